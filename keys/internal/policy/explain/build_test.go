package explain

import (
	"context"
	"strings"
	"testing"
)

func asked() Asked { return Asked{Paths: []string{"policies"}, AsOf: monday, Source: "rules"} }

func explained(t *testing.T, answer string) canned {
	t.Helper()
	return canned{
		"data.fieldveil.explain": fromJSON(t, answer),
		"data.fieldveil.columns.places": fromJSON(t, `{"a.b": [{"path": [], "definition": {"protection": "randomized", "keyset": "pii",
			"type": "text", "tenant": {"from": "claims.tenant"}, "mask": "last4", "on_plaintext": "refuse"}}]}`),
	}
}

func TestReportHoldsWhatThePoliciesAnswer(t *testing.T) {
	policies := explained(t, `{"subject": "user:app", "break_glass": ["x: y"], "labels": {"a.b": {"read": {"treatment": "reveal",
		"budget": {"rows": 5, "per_seconds": 60, "then": {"treatment": "null"}}}, "write": "seal", "read_by": ["z", "a"], "write_by": [],
		"places": ["shop.public.t.b"]}}}`)
	r, err := Build(context.Background(), policies, []Sample{{Name: "app", User: "app", Database: "shop"}}, asked())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"reveal 5 rows per 1 min, then null [1,2], write", "[1] a\n", "[2] z\n", "app: break-glass in use: x: y"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing:\n%s", want, text.String())
		}
	}
	label := r.Labels[0]
	if label.Keyset != "pii" || label.Tenant != "by claims.tenant" || label.Mask != "last4" || label.Places[0] != "shop.public.t.b" {
		t.Errorf("%+v", label)
	}
}

func TestWhatCanNotBeJudgedIsRefused(t *testing.T) {
	for name, read := range map[string]string{
		"unknown treatment":      `{"treatment": "whisper"}`,
		"no treatment":           `{}`,
		"mask without a format":  `{"treatment": "mask"}`,
		"unknown past a budget":  `{"treatment": "reveal", "budget": {"rows": 1, "per_seconds": 1, "then": {"treatment": "x"}}}`,
		"format without a mask":  `{"treatment": "reveal", "format": "last4"}`,
		"budget without rows":    `{"treatment": "reveal", "budget": "x"}`,
		"budget of another kind": `{"treatment": "null", "budget": {"rows": 1, "per_seconds": 1, "then": {"treatment": "null"}}}`,
	} {
		policies := explained(t, `{"subject": "", "break_glass": [], "labels": {"a.b": {"read": `+read+`, "write": "seal", "read_by": [], "write_by": [], "places": []}}}`)
		if _, err := Build(context.Background(), policies, []Sample{{Name: "app"}}, asked()); err == nil || !strings.Contains(err.Error(), "one version") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPoliciesThatDoNotAnswerAreAnError(t *testing.T) {
	_, err := Build(context.Background(), canned{}, []Sample{{Name: "app"}}, asked())
	if err == nil || !strings.Contains(err.Error(), "see: fieldveil policy check policies") {
		t.Error(err)
	}
}
