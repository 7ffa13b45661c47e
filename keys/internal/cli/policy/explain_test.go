package policy

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/policy/explain"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

const (
	explainedCatalog = `labels:
  customer.ssn: {protection: deterministic, keyset: pii, type: text}
  customer.card: {protection: randomized, keyset: payments, type: text}
databases:
  - protocol: postgres
    database: shop
    columns: {public.customer: {ssn: customer.ssn, card: customer.card}}
`
	explainedRules = `rules:
  - name: the application works with everything
    who: {session: {user: [app]}}
    labels: [customer.*]
    read: {treatment: reveal}
    write: seal
  - name: support checks the last four
    who: {session: {user: [support]}}
    labels: [customer.ssn]
    read: {treatment: mask, format: last4}
  - name: nights are for nobody
    unless: {time: [{from: "08:00", to: "20:00"}]}
    labels: [customer.card]
    read: {treatment: "null"}
`
	day = "2026-03-02T10:00:00Z"
)

// policyFolder holds a catalog and rules, changed by pairs of old and new text.
func policyFolder(t *testing.T, changes ...string) string {
	t.Helper()
	folder := t.TempDir()
	edit := strings.NewReplacer(changes...)
	for name, text := range map[string]string{"catalog": explainedCatalog, "rules": explainedRules} {
		place := filepath.Join(folder, name, "shop")
		testfile.Write(t, filepath.Join(place, "data.yaml"), edit.Replace(text))
	}
	return folder
}

func explainedReport(t *testing.T, arguments ...string) explain.Report {
	t.Helper()
	status, out, errors := run(t, append([]string{"policy", "explain", "--output", "json"}, arguments...)...)
	var report explain.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errors)
	}
	return report
}

func readsOf(report explain.Report) string {
	var said []string
	for _, cell := range report.Cells {
		said = append(said, cell.Principal+" "+cell.Label+" "+cell.Read.Text()+" "+cell.Write+" "+strings.Join(cell.ReadBy, "+"))
	}
	return strings.Join(said, "\n")
}

func TestPolicyExplainShowsThePrincipalsOfTheRules(t *testing.T) {
	report := explainedReport(t, policyFolder(t), "--at", day)
	want := `app customer.card reveal seal the application works with everything
support customer.card conceal refuse ` + `
anybody else customer.card conceal refuse ` + `
app customer.ssn reveal seal the application works with everything
support customer.ssn mask last4 refuse support checks the last four
anybody else customer.ssn conceal refuse `
	if got := readsOf(report); got != want || report.AsOf != day || report.Source != "rules" {
		t.Errorf("%s\n%+v", got, report)
	}
	ssn := report.Labels[1]
	if ssn.Protection != "deterministic" || ssn.Keyset != "pii" || ssn.Type != "text" || ssn.Places[0] != "shop.public.customer.ssn" {
		t.Errorf("%+v", ssn)
	}
}

func TestPolicyExplainAsksForThePrincipalsOfAFileAtTheirTime(t *testing.T) {
	principals := filepath.Join(t.TempDir(), "principals.yaml")
	text := "- {name: app by day, user: app, at: 2026-03-02T10:00:00Z}\n- {name: app at night, user: app, database: shop, at: 2026-03-02T23:00:00Z}\n"
	testfile.Write(t, principals, text)
	report := explainedReport(t, policyFolder(t), "--principals", principals, "--label", "*.card")
	want := "app by day customer.card reveal seal the application works with everything\napp at night customer.card null seal nights are for nobody"
	if got := readsOf(report); got != want || report.Source != principals {
		t.Errorf("%s\n%+v", got, report)
	}
}

func TestPolicyExplainHasFourForms(t *testing.T) {
	folder := policyFolder(t)
	for form, want := range map[string]string{"table": "LABEL ", "json": "{\n", "markdown": "# Who can see what", "html": "<!doctype html>"} {
		status, out, errors := run(t, "policy", "explain", folder, "--output", form)
		if status != 0 || !strings.Contains(out, want) || errors != "" {
			t.Errorf("%s: status %d: %s%s", form, status, out, errors)
		}
	}
}

func TestPolicyDiffEndsWithWhatItFound(t *testing.T) {
	for name, one := range map[string]struct {
		changes []string
		status  int
		said    string
	}{
		"nothing":  {nil, 0, "nothing changes"},
		"narrowed": {[]string{"treatment: reveal", "treatment: conceal"}, 3, "0 widened, 0 changed, 2 narrowed"},
		"stored":   {[]string{"keyset: payments", "keyset: pii"}, 3, "–        customer.card  keyset     payments  pii"},
		"shown":    {[]string{"{protection: randomized, keyset: payments", "{protection: deterministic, keyset: payments"}, 4, "widened  customer.card  protection"},
		"widened":  {[]string{"{treatment: mask, format: last4}", "{treatment: reveal}"}, 4, "1 widened, 0 changed, 0 narrowed"},
		"changed":  {[]string{"format: last4", "format: first1"}, 4, "0 widened, 1 changed, 0 narrowed"},
		"open":     {[]string{`to: "20:00"`, `to: "22:00"`}, 4, "changed  rule nights are for nobody: unless.time"},
		"accepted": {[]string{"rules:\n", "accept: {token: [comment]}\nrules:\n"}, 4, "widened  rules: accept: token"},
		"held":     {[]string{"    database: shop\n", "    database: shop\n    max_stale_seconds: 86400\n"}, 4, "widened  database shop: max_stale_seconds"},
		"renamed":  {[]string{"the application works with everything", "the application"}, 0, "nothing changes"},
		"exposed":  {[]string{", card: customer.card", ""}, 4, "everybody: no longer protected"},
	} {
		status, out, errors := run(t, "policy", "explain", "--diff", policyFolder(t), policyFolder(t, one.changes...), "--at", day)
		if status != one.status || !strings.Contains(out, one.said) || errors != "" {
			t.Errorf("%s: status %d: %s%s", name, status, out, errors)
		}
	}
}

func TestPolicyDiffHasFourForms(t *testing.T) {
	old, new := policyFolder(t), policyFolder(t, "format: last4", "format: first1")
	for form, want := range map[string]string{"table": "VERDICT ", "json": `"verdict": "changed"`, "markdown": "## Changed", "html": "Whose access changes"} {
		status, out, _ := run(t, "policy", "explain", "--diff", old, new, "--output", form)
		if status != 4 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d: %s", form, status, out)
		}
	}
}

func TestPolicyExplainNamesWhatItCanNotUse(t *testing.T) {
	folder := policyFolder(t)
	broken := policyFolder(t, "ssn: customer.ssn", "ssn: customer.snn")
	for _, one := range []struct {
		arguments []string
		want      string
	}{
		{nil, "PATH is missing"},
		{[]string{"--diff", folder}, "NEW is missing"},
		{[]string{"--diff", folder, folder, folder}, "too many arguments"},
		{[]string{folder, "--output", "yaml"}, `--output "yaml": no such form; use table, json, markdown or html`},
		{[]string{folder, "--at", "noon"}, `--at "noon": no date and time of RFC 3339`},
		{[]string{folder, "--database", "hr"}, `--database "hr": no principal asks for it`},
		{[]string{folder, "--label", "none.*"}, "no label fits what is asked for"},
		{[]string{folder, "--label", "[a]"}, `--label "[a]": it has characters that no pattern has`},
		{[]string{folder, "--principals", folder + "/none"}, "no such file or directory"},
		{[]string{folder + "/none"}, "no such file or directory"},
		{[]string{broken}, "see: fieldveil policy check " + broken},
		{[]string{"--diff", folder, broken}, "see: fieldveil policy check " + broken},
	} {
		run.WantBadInput(t, one.want, append([]string{"policy", "explain"}, one.arguments...)...)
	}
}
