package explain

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

// fixture is a report that has every treatment, and texts that would do harm if they were not escaped.
func fixture() *Report {
	reveal, seal := Read{Treatment: "reveal"}, "seal"
	all := "the application works with everything"
	budget := Read{Treatment: "reveal", Budget: &Budget{Rows: 500, PerSeconds: 60, Then: Read{Treatment: "mask", Format: "last4"}}}
	cell := func(label, principal string, read Read, write string, readBy, writeBy []string) Cell {
		return Cell{Label: label, Principal: principal, Access: Access{Read: read, Write: write, ReadBy: readBy, WriteBy: writeBy}}
	}
	support := "support <script>document.title='rule'</script> checks | the last four"
	report := &Report{
		Version: FormatVersion, Policies: []string{"policies"}, AsOf: "2026-03-02T10:00:00Z", Source: "principals.yaml",
		Notes: []string{},
		Principals: []Principal{
			{Name: "app", Attributes: []Pair{{"database", "shop"}, {"user", "app"}}, Subject: "user:app", BreakGlass: []string{}},
			{Name: "support", Attributes: []Pair{{"database", "shop"}, {"user", "support"}, {"purpose", "refund"}}, Subject: "user:support",
				BreakGlass: []string{"on-call reads notes: INC-42 <b>mail lost</b>"}, At: "2026-03-02T22:30:00+01:00"},
			{Name: "late", Attributes: []Pair{{"database", "shop"}, {"user", "late"}}, Subject: "user:late", Denied: "the token has expired", BreakGlass: []string{}},
			{Name: "jobs", Attributes: []Pair{{"database", "jobs"}, {"user", "jobs"}}, Subject: "user:jobs", BreakGlass: []string{}},
		},
		Labels: []Label{
			{Name: "customer.born", Protection: "randomized", Keyset: "pii", Type: "date", Places: []string{"shop.public.customer.born"}},
			{Name: "customer.card", Protection: "randomized", Keyset: "payments", Type: "text", Places: []string{"orders-api $.card", "shop.public.customer.card"}},
			{Name: "customer.notes", Protection: "randomized", Keyset: "pii", Type: "text", Places: []string{"shop.public.customer.notes"}},
			{Name: "customer.ssn", Protection: "deterministic", Keyset: "pii", Type: "text", Tenant: "by claims.tenant", Leakage: "searched <i>daily</i>",
				Places: []string{"orders-api $.customer.ssn", "shop.public.customer.ssn"}},
		},
		Cells: []Cell{
			cell("customer.born", "app", reveal, seal, []string{all}, []string{all}),
			cell("customer.born", "support", Read{Treatment: "mask", Format: "year"}, "refuse", []string{support}, []string{}),
			cell("customer.born", "late", Read{Treatment: "refuse"}, "refuse", []string{}, []string{}),
			cell("customer.card", "app", reveal, seal, []string{all}, []string{all}),
			cell("customer.card", "support", budget, "refuse", []string{support, "cards are limited"}, []string{"support changes nothing"}),
			cell("customer.card", "late", Read{Treatment: "refuse"}, "refuse", []string{}, []string{}),
			cell("customer.notes", "app", reveal, seal, []string{all}, []string{all}),
			cell("customer.notes", "support", Read{Treatment: "null"}, "refuse", []string{support}, []string{"support changes nothing"}),
			cell("customer.notes", "late", Read{Treatment: "refuse"}, "refuse", []string{}, []string{}),
			cell("customer.ssn", "app", reveal, seal, []string{all}, []string{all}),
			cell("customer.ssn", "support", Read{Treatment: "conceal"}, "refuse", []string{}, []string{"support changes nothing"}),
			cell("customer.ssn", "late", Read{Treatment: "refuse"}, "refuse", []string{}, []string{}),
			cell("customer.ssn", "jobs", Read{Treatment: "mask", Format: `partial(2,"…",1)`}, seal, []string{"jobs <tag>"}, []string{"jobs <tag>"}),
		},
	}
	for i, cell := range report.Cells {
		label, _ := report.label(cell.Label)
		report.Cells[i].Search = label.search(cell.Access)
	}
	return report
}

// edited is a copy of the fixture, changed.
func edited(t *testing.T, change func(r *Report)) *Report {
	t.Helper()
	text, err := json.Marshal(fixture())
	if err != nil {
		t.Fatal(err)
	}
	var copied Report
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	copied.Policies = []string{"policies-new"}
	change(&copied)
	return &copied
}

func (r *Report) at(label, principal string) *Access {
	for i := range r.Cells {
		if r.Cells[i].Label == label && r.Cells[i].Principal == principal {
			return &r.Cells[i].Access
		}
	}
	panic("no such cell: " + label + " " + principal)
}

// canned answers queries with the values that a test gives.
type canned map[string]any

func (c canned) Evaluate(_ context.Context, query string, _ any, _ time.Time) (any, bool, error) {
	value, defined := c[query]
	return value, defined, nil
}
