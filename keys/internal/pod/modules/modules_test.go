package modules

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// image is a folder of modules as the image has it, and an empty one beside it.
func image(t *testing.T) (from, to string) {
	t.Helper()
	from, to = t.TempDir(), t.TempDir()
	list := ""
	for _, name := range []string{"filter-json.wasm", "filter-postgres.wasm", "libfieldveil.so"} {
		content := strings.Repeat(name, 1000)
		testfile.Write(t, filepath.Join(from, name), content)
		sum := sha256.Sum256([]byte(content))
		list += hex.EncodeToString(sum[:]) + "  " + name + "\n"
	}
	testfile.Write(t, filepath.Join(from, List), list)
	return from, to
}

func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}

func TestModulesAreCopiedWithTheirListForEverybodyToRead(t *testing.T) {
	from, to := image(t)
	copied, err := Copy(from, to)
	if err != nil || len(copied) != 3 {
		t.Fatal(copied, err)
	}
	if got := names(t, to); got != List+" filter-json.wasm filter-postgres.wasm libfieldveil.so" {
		t.Error(got)
	}
	for _, name := range []string{"filter-json.wasm", "filter-postgres.wasm", "libfieldveil.so", List} {
		want := testfile.Read(t, filepath.Join(from, name))
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is another (%v)", name, err)
		}
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
}

func TestCopyingAgainMendsWhatIsSpoiltAndLeavesTheRestUntouched(t *testing.T) {
	from, to := image(t)
	if _, err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(to, "filter-json.wasm")
	before, err := os.Stat(kept)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(to, "filter-postgres.wasm"), "half")
	if _, err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(kept)
	if err != nil || !os.SameFile(before, after) {
		t.Error("what was as it should be was written again")
	}
	if got, err := os.ReadFile(filepath.Join(to, "filter-postgres.wasm")); err != nil || len(got) < 5 {
		t.Error("the spoilt one stayed")
	}
}

func TestNothingIsCopiedOfAnImageThatIsNotWhole(t *testing.T) {
	for reason, spoil := range map[string]func(from string) error{
		"there is no list of modules": func(from string) error { return os.Remove(filepath.Join(from, List)) },
		"not there":                   func(from string) error { return os.Remove(filepath.Join(from, "filter-postgres.wasm")) },
		"its SHA-256 is another": func(from string) error {
			return os.WriteFile(filepath.Join(from, "filter-postgres.wasm"), []byte("other"), 0o600)
		},
		"it is not in " + List:   func(from string) error { return os.WriteFile(filepath.Join(from, "filter-mysql.wasm"), nil, 0o600) },
		"other.so: it is not in": func(from string) error { return os.WriteFile(filepath.Join(from, "other.so"), nil, 0o600) },
		"not a list of modules":  func(from string) error { return appendTo(filepath.Join(from, List), "x\n") },
		"a list of modules":      func(from string) error { return os.WriteFile(filepath.Join(from, List), nil, 0o600) },
	} {
		from, to := image(t)
		if err := spoil(from); err != nil {
			t.Fatal(err)
		}
		_, err := Copy(from, to)
		if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
		if got := names(t, to); got != "" {
			t.Errorf("%s: there is %s", reason, got)
		}
	}
}

// A list that is spoilt or forged leads nowhere else.
func TestListNamesFilesOfItsFolderAlone(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, bad := range []string{"../x.wasm", "/etc/x.wasm", "a/b.wasm", ".x.wasm", "../x.so", "x.so.1", "x.txt", ""} {
		from, to := image(t)
		if err := appendTo(filepath.Join(from, List), sum+"  "+bad+"\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := Copy(from, to); err == nil || !strings.Contains(err.Error(), "not a list") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	from, to := image(t)
	if err := appendTo(filepath.Join(from, List), sum+"  filter-json.wasm\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(from, to); err == nil {
		t.Error("a module can be listed twice")
	}
}

func TestFolderThatIsNotThereOrCanNotBeWrittenIsTold(t *testing.T) {
	from, to := image(t)
	if _, err := Copy(from, filepath.Join(to, "none")); fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), "no such folder") {
		t.Error(err)
	}
	// A folder in a module's place can not be replaced, whoever runs this.
	testfile.MakeFolder(t, filepath.Join(to, "filter-json.wasm", "x"))
	if _, err := Copy(from, to); fault.ExitStatus(err) != fault.ExitFailure {
		t.Error(err)
	}
	if got := names(t, to); strings.Contains(got, List) || strings.Contains(got, ".filter") {
		t.Errorf("left behind: %s", got)
	}
}

func appendTo(path, text string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(before, text...), 0o600)
}
