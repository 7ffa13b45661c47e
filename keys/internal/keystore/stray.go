package keystore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// checkNoStrays refuses to destroy while files lie there that may be copies of a
// name's, which an editor or a person made: keys would live on in them. Whether
// they are is for a person to say.
func (s *Store) checkNoStrays(name string) error {
	copies, files, err := s.everythingOf(name)
	if err != nil {
		return err
	}
	for _, folder := range []string{s.folder, filepath.Join(s.folder, backupsFolder)} {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errNotRead(folder, err)
		}
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			isSwept := isStagedFor(name, entry.Name())
			if mayBeCopyOf(name, entry.Name()) && !isSwept && !slices.Contains(copies, path) && !slices.Contains(files, path) {
				return fault.Input(path, "it may be a copy of a keyset of "+name+", in which its keys would stay",
					"remove it, or move it away if it is none, and run the command again")
			}
		}
	}
	return nil
}

// ofTenant tells what follows NAME. in the name of a copy of a tenant's file.
var ofTenant = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}\.(aead|deterministic|prf|meta)\b`)

// mayBeCopyOf tells what begins as a name's files do and is not another name's.
// Some editors put a mark before it, and a dot hides it.
func mayBeCopyOf(name, file string) bool {
	file = strings.TrimLeft(file, ".#")
	if end := strings.LastIndex(file, ".json"); end >= 0 {
		if of, _, ok := parseFileName(file[:end] + ".json"); ok {
			return of == name
		}
	}
	rest, begins := strings.CutPrefix(file, stem(name)+".")
	return begins && (IsTenant(name) || !ofTenant.MatchString(rest))
}
