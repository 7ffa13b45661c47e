package policy

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var run = commandtest.Of(New)

var update = flag.Bool("update", false, "write what is expected anew")

// Each folder of testdata/check is a case: its folders are checked together,
// and expected.txt is what is said of them.
func TestPolicyCheckSaysEachProblemAtItsPlace(t *testing.T) {
	cases, err := filepath.Glob("testdata/check/*")
	if err != nil || len(cases) == 0 {
		t.Fatal(cases, err)
	}
	for _, folder := range cases {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Chdir(folder)
			status, output, errors := run(t, append([]string{"policy", "check"}, foldersHere(t)...)...)
			sound := strings.Contains(output, "sound:")
			if want := map[bool]int{true: 0, false: 2}[sound]; status != want || sound != (errors == "") || strings.Count(errors, "\n") > 1 {
				t.Errorf("status %d\n%s%s", status, output, errors)
			}
			compare(t, "expected.txt", output+errors)
		})
	}
}

func TestPolicyCheckAsJSON(t *testing.T) {
	for name, wanted := range map[string]int{"warnings": 0, "search-by-writing": 0, "two-folders-of-one-path": 2, "no-catalog": 2, "empty-files": 2} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(filepath.Join("testdata/check", name))
			status, output, _ := run(t, append([]string{"policy", "check", "--output", "json"}, foldersHere(t)...)...)
			if status != wanted {
				t.Errorf("status %d", status)
			}
			compare(t, "expected.json", output)
		})
	}
}

func TestPolicyCheckOfTheExamplesHasNoWarning(t *testing.T) {
	status, output, errors := run(t, "policy", "check", "../../../../policies")
	if status != 0 || errors != "" || strings.Count(output, "\n") != 1 {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

// Its break-glass grant is over, as one that is copied should be; and its sign-up writes what it does not see.
func TestPolicyCheckOfTheStarterSetWarnsOfItsGrantAndItsSignUp(t *testing.T) {
	status, output, errors := run(t, "policy", "check", "../../../../policies/starter")
	if status != 0 || errors != "" || strings.Count(output, "\n") != 3 || !strings.Contains(output, "break_glass.expires: it expired") ||
		!strings.Contains(output, `warning[search-by-writing]: rules["crm-api"].rules[3].write: `) {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyCheckOfWhatIsNoPolicySaysWhy(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for name, content := range map[string]string{"notes.txt": "x", "data.yaml": "labels: {}", "broken.tar.gz": "no gzip", "key.pem": "no key"} {
		testfile.Write(t, name, content)
	}
	testfile.MakeFolder(t, "empty/catalog/shop")
	testfile.MakeFolder(t, "linked")
	if err := os.Symlink("../empty/catalog", "linked/catalog"); err != nil {
		t.Fatal(err)
	}
	for words, reason := range map[string]string{
		"linked":                             "linked/catalog: a link to a folder",
		"":                                   "PATH is missing",
		"nowhere":                            "nowhere: no such file or directory; name a folder",
		"empty":                              "empty: there is no policy in it",
		"notes.txt":                          "notes.txt: neither a folder nor a bundle",
		"data.yaml":                          "data.yaml: a single file of data does not say where it lies",
		"broken.tar.gz":                      "broken.tar.gz: not a bundle",
		"broken.tar.gz --verification-key x": "x: no such file or directory; name the public key",
		"broken.tar.gz --verification-key key.pem": "key.pem: not PEM; name the public key",
		"empty --output xml":                       "no such form",
		"empty --nonsense":                         "unknown flag",
	} {
		run.WantBadInput(t, reason, strings.Fields("policy check "+words)...)
	}
}

func foldersHere(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	return folders
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		testfile.Write(t, file, got)
	}
	want := testfile.Read(t, file)
	if got != string(want) {
		t.Errorf("it says\n%s\nand not\n%s", got, want)
	}
}
