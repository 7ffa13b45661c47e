package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// copyOfStarter is a folder of one's own, with tests of these lines beside the starter set's.
func copyOfStarter(t *testing.T, lines ...string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	return addTests(t, starterHere(t), lines...)
}

var starter, _ = filepath.Abs("../../../../policies/starter")

func starterHere(t *testing.T) string {
	t.Helper()
	testfile.CopyFolder(t, "crm", starter)
	return "crm"
}

func addTests(t *testing.T, folder string, lines ...string) string {
	t.Helper()
	if len(lines) > 0 {
		text := strings.Join(lines, "\n") + "\n"
		imported := ""
		if strings.Contains(text, "testing.") { // one that is not used is a problem
			imported = "import data.fieldveil.testing"
		}
		text = "package my_test\n\n" + imported + "\n\n" + text
		testfile.Write(t, filepath.Join(folder, "my_test.rego"), text)
	}
	return folder
}

func TestPolicyTestRunsOnesOwnTestsWithTheLibraryBuiltInOrGiven(t *testing.T) {
	policies := filepath.Dir(starter)
	folder := copyOfStarter(t)
	alone := "crm: 19 tests passed\n"
	if status, output, errors := run(t, "policy", "test", folder); status != 0 || output != alone || errors != "" {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
	// The library's own 270 are not among them.
	library := filepath.Join(t.TempDir(), "library")
	for _, part := range []string{"fieldveil", "schemas", "system"} {
		testfile.CopyFolder(t, filepath.Join(library, part), filepath.Join(policies, part))
	}
	if status, output, errors := run(t, "policy", "test", library, folder); status != 0 || !strings.HasSuffix(output, alone) || errors != "" {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyTestNamesWhatPassesWhenAsked(t *testing.T) {
	folder := copyOfStarter(t, `test_x if testing.sound`, ``, `todo_test_y if false`)
	status, output, errors := run(t, "policy", "test", folder, "-v", "--run", "^data.my_test")
	want := "PASS: crm/my_test.rego:5:1: data.my_test.test_x\nSKIP: crm/my_test.rego:7:1: data.my_test.todo_test_y\ncrm: 1 test passed, 1 skipped\n"
	if status != 0 || output != want || errors != "" {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyTestSaysWhoGotWhatOrWhereATestStopped(t *testing.T) {
	for line, said := range map[string]string{
		`test_x if testing.reads(testing.user("crm"), "customer.ssn", "reveal")`: `{"user":"crm"} of crm: customer.ssn reads conceal, not reveal, by no rule`,
		`test_x[label] if { some label in ["customer.ssn", "invoice.iban"]; testing.writes(testing.user("crm"), label, "seal") }`://
		`{"user":"crm"} of crm: invoice.iban writes refuse, not seal, by no rule`,
		`test_x if testing.reads("crm", "customer.ssn", "conceal")`:                   `"crm" is no principal; say testing.user("NAME") or testing.principal({…})`,
		`test_x if testing.reads(testing.principal({"at": "noon"}), "**", "conceal")`: `at is no time of RFC 3339 such as 2026-01-31T10:00:00Z: "noon"`,
		`test_x if { y := 1 + 1; y == 3 }`:                                            `false or undefined at crm/my_test.rego:5: y == 3`,
		`test_x if not testing.sound`:                                                 `false or undefined at crm/my_test.rego:5: not testing.sound`,
		`test_x if 1 / (count({1}) - 1) == 1`:                                         `false or undefined at crm/my_test.rego:5: 1 / (count({1}) - 1)`,
		`test_x := false`:                                                             `its value is not true`,
		`test_x if { every y in [1, 2] { y == 1 } }`:                                  `false or undefined at crm/my_test.rego:5: y == 1`,
	} {
		t.Run(line, func(t *testing.T) {
			status, output, errors := run(t, "policy", "test", copyOfStarter(t, line), "--run", "^data.my_test")
			if status != 2 || !strings.Contains(output, "FAIL: crm/my_test.rego:5:1: data.my_test.test_x\n  ") ||
				!strings.Contains(output, "  "+said+"\n") || !strings.HasSuffix(output, "crm: 0 tests passed, 1 failed\n") ||
				errors != "fieldveil: crm: 1 of 1 test failed; correct the rule, or the test where that is wrong\n" {
				t.Errorf("status %d\n%s%s", status, output, errors)
			}
		})
	}
}

func TestPolicyTestCountsWhatPassedBesideWhatFailed(t *testing.T) {
	status, output, errors := run(t, "policy", "test", copyOfStarter(t, "test_x := false"))
	if status != 2 || !strings.HasSuffix(output, "\ncrm: 19 tests passed, 1 failed\n") ||
		errors != "fieldveil: crm: 1 of 20 tests failed; correct the rule, or the test where that is wrong\n" {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyTestThatRunsNothingFails(t *testing.T) {
	for name, c := range map[string]struct {
		lines     []string
		arguments []string
		reason    string
	}{
		"a pattern with a typo":      {nil, []string{"crm", "--run", `^data\.strater_test`}, `--run ^data\.strater_test: no test of crm has a name like this; correct it; there is data.starter_test.test_`},
		"a pattern that is none":     {nil, []string{"crm", "--run", "("}, `--run (: no regular expression`},
		"all are skipped":            {[]string{"todo_test_x if false"}, []string{"crm", "--run", "my_test"}, "crm: every test is skipped"},
		"there is none":              {nil, []string{"crm/catalog-root"}, "crm/catalog-root: there is no test in it"},
		"a folder that is not there": {nil, []string{"cmr"}, "cmr: no such file or directory"},
		"a helper's name is wrong":   {[]string{`test_x if testing.red("crm")`}, []string{"crm"}, "crm: 1 problem; mend what is named; until then no test runs"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := copyOfStarter(t, c.lines...)
			testfile.CopyFolder(t, filepath.Join(folder, "catalog-root", "catalog"), filepath.Join(starter, "catalog"))
			if c.arguments[0] == folder { // where a catalog lies deeper is a problem
				if err := os.RemoveAll(filepath.Join(folder, "catalog-root")); err != nil {
					t.Fatal(err)
				}
			}
			status, _, errors := run(t, append([]string{"policy", "test"}, c.arguments...)...)
			if status != 2 || !strings.Contains(errors, c.reason) || strings.Count(errors, "\n") != 1 {
				t.Errorf("status %d: %s", status, errors)
			}
		})
	}
}

func TestPolicyTestTellsProblemsFirst(t *testing.T) {
	folder := copyOfStarter(t)
	testfile.Write(t, filepath.Join(folder, "rules", "crm", "data.yaml"), "rules:\n  - {name: r, who: {session: {user: [u]}}, labels: [cst.ssn], read: {treatment: reveal}}\n")
	status, output, errors := run(t, "policy", "test", folder)
	if status != 2 || !strings.HasPrefix(output, "crm/rules/crm/data.yaml:2:53: rules.crm.rules[0].labels[0]: no label is like cst.ssn") ||
		strings.Count(output, "\n") != 1 || !strings.Contains(errors, "until then no test runs") {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyTestWarnsOfAFileWithoutTests(t *testing.T) {
	status, output, errors := run(t, "policy", "test", copyOfStarter(t, "tets_x if testing.sound"))
	if status != 0 || output != "crm: 19 tests passed\n" || errors != "fieldveil: crm/my_test.rego: no test in it; begin the names of its tests with test_\n" {
		t.Errorf("status %d\n%s%s", status, output, errors)
	}
}

func TestPolicyTestAsJSON(t *testing.T) {
	folder := copyOfStarter(t, `test_x if { 1 == 2 }`)
	status, output, _ := run(t, "policy", "test", folder, "--output", "json", "--run", "my_test")
	var report map[string]any
	if err := json.Unmarshal([]byte(output), &report); err != nil {
		t.Fatal(err, output)
	}
	test := report["tests"].([]any)[0].(map[string]any)
	if status != 2 || test["name"] != "data.my_test.test_x" || test["outcome"] != "fail" || test["file"] != "crm/my_test.rego" || test["line"] != 5.0 || len(test["said"].([]any)) != 1 {
		t.Errorf("status %d\n%s", status, output)
	}
}
