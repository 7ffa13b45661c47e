package policy

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// ownPolicies is a folder with the examples' catalog and rules and nothing else.
func ownPolicies(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, part := range []string{"catalog", "rules"} {
		if err := os.CopyFS(filepath.Join(folder, part), os.DirFS(filepath.Join(examples, part))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
