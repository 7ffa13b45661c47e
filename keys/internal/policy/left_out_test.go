package policy

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

const aRule = "rules: [{name: n, who: {session: {user: [nobody]}}, labels: ['**'], write: refuse}]\n"

func TestWhatIsLeftOutThoughItLooksMeantIsNamed(t *testing.T) {
	for name, reason := range map[string]string{
		"rules/.two/data.yaml":            "begins with a dot",
		"rules/two/.data.yaml":            "begins with a dot",
		"tokens/.idp/data.json":           "begins with a dot",
		"own/own.REGO":                    "end in .rego alone",
		".github/workflows/ci.yaml":       "",
		"rules/..2026_01_01/data.yaml":    "",
		"rules/shop/.data.yaml.swp":       "",
		"rules/shop/shop_test.rego":       "",
		"own/.hidden/values.yaml":         "",
		"rules/two/.git/hooks/sample.txt": "",
	} {
		folder := ownPolicies(t)
		testfile.Write(t, filepath.Join(folder, name), []byte(aRule))
		report, err := Check(context.Background(), []string{folder}, Options{}, time.Now())
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%s: %v, %+v", name, err, report)
		}
		if reason == "" && len(report.Warnings) == 0 {
			continue
		}
		if len(report.Warnings) != 1 || reason == "" || !strings.Contains(report.Warnings.Error(), filepath.Join(folder, name)+": left out: ") ||
			!strings.Contains(report.Warnings.Error(), reason) {
			t.Errorf("%s: %+v", name, report.Warnings)
		}
	}
}

func TestHiddenDataOfABundleIsReadAsOPADoes(t *testing.T) {
	content := `{"rules": [{"name": "n", "who": {"session": {"user": ["nobody"]}}, "labels": ["no.such.label"], "write": "refuse"}]}`
	bundle := packed(t, "rules/.two/data.json", content, int64(len(content)))
	report, err := Check(context.Background(), []string{ownPolicies(t), bundle}, Options{}, time.Now())
	if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems.Error(), bundle+"/rules/.two/data.json:1:") {
		t.Errorf("%v: %+v", err, report)
	}
}

func TestDataThatOPADoesNotReadIsAProblem(t *testing.T) {
	for name, reason := range map[string]string{
		"rules/two/data.YAML":     "move it to rules/two/data.yaml",
		"rules/two/DATA.yml":      "this is read as no data",
		"rules/two/data.JSON":     "not JSON",
		"schemas/own/data.yaml":   "this is a set of rules",
		"fieldveil/own/data.yaml": "data below fieldveil",
		"data.yaml":               "",
	} {
		folder := ownPolicies(t)
		content := aRule
		if reason == "" {
			content, reason = "fieldveil: {own: [1]}\n", "data below fieldveil"
		}
		testfile.Write(t, filepath.Join(folder, name), content)
		if _, err := Load([]string{folder}, Options{}); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, name)) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRegoOfOnesOwnStandsBesideTheLibraryAndNotInIt(t *testing.T) {
	for _, name := range []string{"fieldveil.own", "fieldveil.problems.own", "system.log"} {
		folder := ownPolicies(t)
		testfile.Write(t, filepath.Join(folder, "own", "own.rego"), []byte("package "+name+"\n\nextra := 1\n"))
		p, err := Load([]string{folder}, Options{})
		if err != nil || !p.BuiltInLibrary {
			t.Fatalf("%s: %v", name, err)
		}
		if report, err := p.Check(context.Background(), folder, time.Now()); err != nil || len(report.Problems) > 0 || report.Counts.Catalogs != 1 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if _, err := p.Build(folder, "", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"fieldveil", "fieldveil.problems", "fieldveil.treatment"} {
		folder := ownPolicies(t)
		testfile.Write(t, filepath.Join(folder, "own", "own.rego"), []byte("package "+name+"\n\nextra := 1\n"))
		want := filepath.Join(folder, "own", "own.rego") + ":1:1: package " + name + " is the library's"
		if _, err := Load([]string{folder}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
