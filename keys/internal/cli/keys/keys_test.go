package keys

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var run = commandtest.Of(New)

func TestCreateListRotateList(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	first := f.list()
	if len(first) != 3 || first[0].Purpose != "aead" || first[1].Purpose != "deterministic" || first[2].Purpose != "prf" {
		t.Fatalf("listed %+v", first)
	}
	f.ok("keys", "rotate", "pii")
	second := f.list()
	if len(second[0].Keys) != 2 || second[0].PrimaryKeyID == first[0].PrimaryKeyID {
		t.Errorf("the aead keyset was not rotated: %+v", second[0])
	}
	for _, other := range second[1:] {
		if len(other.Keys) != 1 {
			t.Errorf("the %s keyset was rotated unasked: %+v", other.Purpose, other)
		}
	}
	table, _ := f.ok("keys", "list")
	for _, part := range []string{"NAME", "PURPOSE", "AesGcmKey", "AesSivKey", "HmacPrfKey", "enabled", "primary"} {
		if !strings.Contains(table, part) {
			t.Errorf("no %s in\n%s", part, table)
		}
	}
}

func TestRotationInTwoSteps(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	for i, purpose := range []string{"aead", "deterministic"} {
		add := []string{"--add", "--add-only"}[i] // its former name
		f.ok("keys", "rotate", "pii", add, "--purpose", purpose)
		added := f.list()[i]
		if added.Keys[1].Primary {
			t.Fatalf("%s: the added key is the primary", purpose)
		}
		keyID := strconv.FormatUint(uint64(added.Keys[1].KeyID), 10)
		_, warning := f.ok("keys", "rotate", "pii", "--promote", keyID)
		if (purpose == "deterministic") != strings.Contains(warning, "equality searches") {
			t.Errorf("%s: warning %q", purpose, warning)
		}
		if f.list()[i].PrimaryKeyID != added.Keys[1].KeyID {
			t.Errorf("%s: not promoted", purpose)
		}
		before := f.content()
		if said, _ := f.ok("keys", "rotate", "pii", "--promote", keyID); !strings.Contains(said, "nothing changed") || f.content() != before {
			t.Errorf("%s: promoted twice: %s", purpose, said)
		}
	}
}

func TestNameWithoutAPurposeIsGivenItsKeyset(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	testfile.Remove(t, filepath.Join(f.keysets, "pii.prf.json"))
	f.ok("keys", "rotate", "pii")
	before := f.list()
	if said, _ := f.ok("keys", "create", "pii", "--purpose", "prf"); strings.Count(said, "created") != 1 {
		t.Errorf("said %s", said)
	}
	after := f.list()
	if len(before) != 2 || len(after) != 3 || after[2].Purpose != "prf" || after[0].PrimaryKeyID != before[0].PrimaryKeyID {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestPRFKeysetIsNotRotatedAndTheErrorSaysWhy(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	keyID := strconv.FormatUint(uint64(f.list()[2].PrimaryKeyID), 10)
	for _, arguments := range [][]string{{"--purpose", "prf"}, {"--purpose", "prf", "--add"}, {"--promote", keyID}} {
		run.WantBadInput(t, "would open to nonsense", f.complete(append([]string{"keys", "rotate", "pii"}, arguments...))...)
	}
}

func TestListNeedsNoKEKAndWithOneProvesEveryKeyset(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	other := filepath.Join(filepath.Dir(f.kek), "other.json")
	run(t, "keys", "create-insecure-dev-kek", "--out", other)
	if status, _, errors := run(t, "keys", "list", "--keysets", f.keysets, "--kek-uri", kek.InsecureDevURI(other)); status != 2 || !strings.Contains(errors, "does not open it") {
		t.Errorf("status %d: %s", status, errors)
	}
	f.ok("keys", "list", "--kek-uri", kek.InsecureDevURI(f.kek))
}

func TestBadInputIsOneLineStatusTwoAndChangesNothing(t *testing.T) {
	f := newFolder(t)
	f.ok("keys", "create", "pii")
	before := f.content()
	missing := filepath.Join(f.keysets, "none")
	for _, arguments := range [][]string{
		{"keys", "nonsense"}, {"keys", "list", "--nonsense"},
		{"keys", "create"}, {"keys", "create", "a", "b"}, {"keys", "create", "../x"}, {"keys", "create", "pii"},
		{"keys", "create", "x", "--aead-template", "rot13"}, {"keys", "create", "x", "--aead-template", ""},
		{"keys", "create", "pii", "--purpose", "prf"}, {"keys", "create", "x", "--purpose", "mac"},
		{"keys", "create", "x", "--purpose", "prf", "--aead-template", "aes128-gcm"},
		{"keys", "create", "x", "--keysets", ""}, {"keys", "create", "x", "--kek-uri", ""},
		{"keys", "create", "x", "--kek-uri", kek.InsecureDevURI(missing)}, {"keys", "create", "x", "--kek-uri", f.kek}, {"keys", "create", "x", "--keysets", missing + "/deeper"},
		{"keys", "rotate"}, {"keys", "rotate", "other"}, {"keys", "rotate", "pii", "--keysets", missing},
		{"keys", "rotate", "pii", "--purpose", "prf"}, {"keys", "rotate", "pii", "--purpose", "mac"}, {"keys", "rotate", "pii", "--promote", "seven"},
		{"keys", "rotate", "pii", "--promote", "4294967296"}, {"keys", "rotate", "pii", "--promote", "1"},
		{"keys", "rotate", "pii", "--promote", "1", "--purpose", "aead"}, {"keys", "rotate", "pii", "--promote", "1", "--add"},
		{"keys", "rotate", "pii", "--purpose", "deterministic", "--aead-template", "aes128-gcm"},
		{"keys", "list", "--output", "yaml"}, {"keys", "list", "x"}, {"keys", "list", "--keysets", missing},
		{"keys", "create-insecure-dev-kek"}, {"keys", "create-insecure-dev-kek", "--out", f.kek},
		{"keys", "create-insecure-dev-kek", "--out", missing + "/kek.json"},
	} {
		run.WantBadInput(t, "", f.complete(arguments)...)
	}
	if f.content() != before {
		t.Error("something changed")
	}
}

// testFolder has a key-encryption key and a folder for keysets.
type testFolder struct {
	*testing.T
	keysets, kek string
}

func newFolder(t *testing.T) *testFolder {
	t.Helper()
	folder := testfile.Folder(t)
	f := &testFolder{T: t, keysets: filepath.Join(folder, "keysets"), kek: filepath.Join(folder, "kek.json")}
	if status, _, errors := run(t, "keys", "create-insecure-dev-kek", "--out", f.kek); status != 0 {
		t.Fatal(errors)
	}
	return f
}

// complete adds the folder's own flags where a command takes and lacks them.
func (f *testFolder) complete(arguments []string) []string {
	command := strings.Join(arguments[:min(2, len(arguments))], " ")
	add := func(flag, value string) {
		if !slices.Contains(arguments, flag) {
			arguments = append(arguments, flag, value)
		}
	}
	switch {
	case command == "keys create-receipt-keyset":
		add("--kek-uri", kek.InsecureDevURI(f.kek))
	case command == "keys create", command == "keys rotate", command == "keys verify", command == "keys rewrap",
		command == "keys disable", command == "keys enable", command == "keys destroy":
		add("--keysets", f.keysets)
		add("--kek-uri", kek.InsecureDevURI(f.kek))
	case command == "keys list", command == "keys inspect":
		add("--keysets", f.keysets)
	}
	return arguments
}

func (f *testFolder) ok(arguments ...string) (output, errors string) {
	f.Helper()
	status, output, errors := run(f.T, f.complete(arguments)...)
	if status != 0 {
		f.Fatalf("%q: status %d: %s", arguments, status, errors)
	}
	return output, errors
}

func (f *testFolder) list() []listedKeyset {
	f.Helper()
	output, _ := f.ok("keys", "list", "--output", "json")
	var listed struct{ Keysets []listedKeyset }
	if err := json.Unmarshal([]byte(output), &listed); err != nil {
		f.Fatal(err)
	}
	return listed.Keysets
}

// content is all files of the folder with their names.
func (f *testFolder) content() string {
	f.Helper()
	return commandtest.Content(f.T, filepath.Dir(f.kek))
}
