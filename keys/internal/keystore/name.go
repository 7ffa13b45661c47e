package keystore

import (
	"regexp"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// namePattern has no upper case, so that names stay apart on file systems that
// fold it, and no dot, which divides the parts of a file's name.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// CheckName refuses what can not name keysets: neither NAME nor NAME/TENANT.
func CheckName(name string) error {
	base, tenant, hasTenant := strings.Cut(name, "/")
	if namePattern.MatchString(base) && (!hasTenant || namePattern.MatchString(tenant)) {
		return nil
	}
	return fault.Input("keyset name \""+name+"\"", "it can not name a keyset",
		"use NAME or NAME/TENANT, each 1 to 63 of a-z 0-9 _ - that begin with a letter or digit")
}

// IsTenant tells a tenant's name, NAME/TENANT, from one that is for all.
func IsTenant(name string) bool { return strings.Contains(name, "/") }

// stem is what the files of a name begin with.
func stem(name string) string { return strings.ReplaceAll(name, "/", ".") }

// parseFileName reads NAME.KIND.json and NAME.TENANT.KIND.json, where the kind
// is a purpose or that of the file beside the keysets.
func parseFileName(file string) (name, kind string, ok bool) {
	parts := strings.Split(strings.TrimSuffix(file, ".json"), ".")
	if len(parts) != 2 && len(parts) != 3 {
		return "", "", false
	}
	name = strings.Join(parts[:len(parts)-1], "/")
	kind = parts[len(parts)-1]
	_, isPurpose := ParsePurpose(kind)
	return name, kind, (isPurpose || kind == metaKind) && CheckName(name) == nil
}
