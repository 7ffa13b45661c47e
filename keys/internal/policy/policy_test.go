package policy

import (
	"context"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

const examples = "../../../policies"

func TestExamplesHaveAPlanWithTheLibraryAndWithout(t *testing.T) {
	input := map[string]any{"protocol": "postgres", "session": map[string]any{"user": "billing", "database": "shop"}}
	for name, paths := range map[string][]string{
		"with the library": {examples},
		"given twice":      {examples, examples + "/../policies"},
		"without it":       {ownPolicies(t)},
	} {
		p, err := Load(paths, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		value, defined, err := p.Evaluate(context.Background(), "data.fieldveil.plan", input, time.Now())
		if err != nil || !defined {
			t.Fatalf("%s: %v, %v", name, value, err)
		}
		if fields := value.(map[string]any)["fields"].([]any); len(fields) == 0 {
			t.Errorf("%s: no fields in %v", name, value)
		}
		_, defined, err = p.Evaluate(context.Background(), "data.fieldveil.plan", map[string]any{}, time.Now())
		if err != nil || defined {
			t.Errorf("%s: a plan for nobody: %v", name, err)
		}
	}
}

// It is there to be copied, and no part of the example.
func TestStarterSetIsSoundAndARootOfItsOwn(t *testing.T) {
	for path, want := range map[string]string{examples: "shop", examples + "/starter": "crm"} {
		report, err := Check(context.Background(), []string{path}, Options{}, time.Now())
		if err != nil || len(report.Problems) > 0 || report.Counts == nil || report.Counts.Catalogs != 1 {
			t.Fatalf("%s: %+v, %v", path, report, err)
		}
		p, err := Load([]string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		value, defined, err := p.Evaluate(context.Background(), "data.catalog", nil, time.Now())
		if _, there := value.(map[string]any)[want]; err != nil || !defined || !there {
			t.Errorf("%s: %v, %v", path, value, err)
		}
	}
}

// A bundle brings its library, which may be older than the program.
func TestLibraryThatSaysLessIsAskedForNoMore(t *testing.T) {
	for rego, want := range map[string]string{
		"found contains \"a text\"": ": a text; see the policies' documents",
		"found := []":               "",
	} {
		folder := ownPolicies(t)
		testfile.MakeFolder(t, filepath.Join(folder, "fieldveil"))
		testfile.Write(t, filepath.Join(folder, "fieldveil", "plan.rego"), "package fieldveil\n\nplan := {}\n")
		testfile.Write(t, filepath.Join(folder, "fieldveil", "problems.rego"), []byte("package fieldveil.problems\n\n"+rego+"\n"))
		report, err := Check(context.Background(), []string{folder}, Options{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if sound := want == ""; sound != (len(report.Problems) == 0) || sound != (report.Counts != nil) || !sound && report.Problems.Error() != folder+want {
			t.Errorf("%s: %+v", rego, report)
		}
	}
}

func TestStarterAndContractsBesideTheLibraryAreNoPartOfThePoliciesThere(t *testing.T) {
	for _, library := range []bool{true, false} {
		folder := ownPolicies(t)
		for _, part := range []string{"starter", "contract"} {
			testfile.CopyFolder(t, filepath.Join(folder, part), ownPolicies(t))
		}
		if library {
			for _, part := range []string{"fieldveil", "schemas"} {
				testfile.CopyFolder(t, filepath.Join(folder, part), filepath.Join(examples, part))
			}
		}
		if report, err := Check(context.Background(), []string{folder}, Options{}, time.Now()); err != nil || library != (len(report.Problems) == 0) {
			t.Errorf("with the library %v: %+v, %v", library, report, err)
		}
	}
}

// What passes here must mean the same to the OPA that decides: the one that the chart puts into a pod.
func TestOPAIsOfTheVersionThatDecides(t *testing.T) {
	here := one(t, "../../go.mod", `github\.com/open-policy-agent/opa v(\S+)`)
	chart := one(t, "../../../charts/fieldveil/charts/fieldveil-sidecar/values.yaml", `repository: openpolicyagent/opa\n\s+tag: ([0-9.]+)-static`)
	if here != chart {
		t.Errorf("the command has OPA %s, the chart %s", here, chart)
	}
}

// one is what the pattern's group finds in a file.
func one(t *testing.T, file, pattern string) string {
	t.Helper()
	text := testfile.Read(t, file)
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		t.Fatalf("%s: nothing is like %s", file, pattern)
	}
	return string(match[1])
}

// ownPolicies is a folder with the examples' catalog and rules and nothing else.
func ownPolicies(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, part := range []string{"catalog", "rules"} {
		testfile.CopyFolder(t, filepath.Join(folder, part), filepath.Join(examples, part))
	}
	return folder
}
