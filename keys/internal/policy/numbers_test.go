package policy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestNumbersThatOPACanNotWorkWithAreNamed(t *testing.T) {
	for number, taken := range map[string]bool{
		"1e1000000000": false, "-1E999": false, "1e-1000000000": false, strings.Repeat("9", 400): false,
		"0": true, "0.0e5": true, "-1.5e300": true, "1e-300": true, strings.Repeat("9", 300): true,
	} {
		content := `{"rules": [{"name": "n", "who": {"claims": {"level": [` + number + `]}}, "labels": ["**"], "write": "refuse"}]}`
		folder := ownPolicies(t)
		testfile.Write(t, folder+"/rules/two/data.json", content)
		for _, path := range []string{folder, packed(t, "rules/two/data.json", content, int64(len(content)))} {
			paths := []string{path}
			if path != folder {
				paths = append(paths, ownPolicies(t))
			}
			report, err := Check(context.Background(), paths, Options{}, time.Now())
			if err != nil || taken != (len(report.Problems) == 0) || !taken && !strings.Contains(report.Problems.Error(), "rules/two/data.json:1:55: a number that is too great or too small") {
				t.Errorf("%.20s: %v, %+v", number, err, report)
			}
		}
	}
}

func TestKeysThatOPAReadsAsOthersAreNamed(t *testing.T) {
	for key, taken := range map[string]bool{
		"012": false, "1e3": false, "0x10": false, "1_000": false, "0o14": false, "1.50": false, "0b1": false,
		"10": true, "-1": true, `"012"`: true, "'1e3'": true, "yes": true, "no": true, "true": true, "2026-01-01": true, "1:30": true, ".inf": true,
	} {
		content := "columns:\n  - {a: {b: &b {" + key + ": x}}}\n  - {c: *b, d: {<<: *b}, e: {f: g}}\n"
		_, problems := parseDocument(file{name: "data.yaml", slashed: "data.yaml", content: []byte(content)}, []string{"catalog", "shop"})
		if taken != (len(problems) == 0) {
			t.Errorf("%s: %v", key, problems)
		}
		if !taken && !strings.HasPrefix(problems.Error(), "data.yaml:2:17: catalog.shop.columns[0].a.b["+`"`+key+`"`+"]: OPA reads this key as another one") {
			t.Errorf("%s: %v", key, problems)
		}
	}
}

func TestKeysOfMergedMappingsAreLookedAtToo(t *testing.T) {
	for _, content := range []string{"a: {<<: {b: {012: x}}}\n", "a: {<<: [{b: c}, {d: {012: x}}]}\n", "a: [{b: {012: x}}]\n", "a: {012: &b {c: x}}\nd: {True: *b}\n"} {
		_, problems := parseDocument(file{name: "data.yaml", slashed: "data.yaml", content: []byte(content)}, nil)
		if len(problems) == 0 || !strings.Contains(problems.Error(), "OPA reads this key as another one") {
			t.Errorf("%s: %v", content, problems)
		}
	}
	// What is merged itself keeps its keys.
	whole := "m: {<<: {012: x}}\nbase: &base {b: {c: x}}\na: {<<: *base, d: {e: [f]}}\nz: {<<: [*base]}\n"
	if _, problems := parseDocument(file{name: "data.yaml", slashed: "data.yaml", content: []byte(whole)}, nil); len(problems) > 0 {
		t.Error(problems)
	}
}
