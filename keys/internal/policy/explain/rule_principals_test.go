package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var monday = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func fromJSON(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func rules(t *testing.T, catalog, rules string) canned {
	t.Helper()
	return canned{"data.catalog": fromJSON(t, catalog), "data.rules": fromJSON(t, rules)}
}

const shopCatalog = `{"shop": {"databases": [{"protocol": "postgres", "database": "shop"}]}}`

func names(samples []Sample) []string {
	var found []string
	for _, s := range samples {
		found = append(found, s.Name)
	}
	return found
}

func TestPrincipalsAreThoseThatTheRulesName(t *testing.T) {
	policies := rules(t, shopCatalog, `{"a": {"rules": [
		{"who": {"session": {"user": ["app", "billing"]}}},
		{"who": {"session": {"user": ["app"]}, "workload": {"namespace": ["shop"]}}},
		{"unless": {"listener": ["x"]}},
		{"who": {"session": {"source": ["10.0.0.0/8"], "user": ["app"]}}},
		{"who": {"session": {"user": ["app"]}}},
		{"who": {"claims": {"groups": ["care"], "org": {"level": [3]}}}}]}}`)
	samples, notes, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"app", "billing", "app, namespace shop", "app, from 10.0.0.0/8", "groups care, org.level 3", "anybody else"}
	if got := names(samples); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if samples[3].Source != "10.0.0.1" || samples[0].Database != "shop" || samples[5].User != anybody {
		t.Errorf("%+v", samples)
	}
	claims, _ := json.Marshal(samples[4].Claims)
	if string(claims) != `{"groups":"care","org":{"level":3}}` {
		t.Errorf("%s", claims)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "anybody else") {
		t.Errorf("%q", notes)
	}
}

func TestLabelsOfTheWorkloadMakePrincipals(t *testing.T) {
	policies := rules(t, shopCatalog, `{"a": {"rules": [
		{"who": {"session": {"user": ["app"]}, "workload": {"labels": {"team": ["billing", "desk"], "tier": ["front"]}}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	want := []string{"app, team billing, tier front", "app, team desk, tier front", "anybody else"}
	if got := names(samples); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if labels := samples[0].WorkloadLabels; labels["team"] != "billing" || samples[1].WorkloadLabels["team"] != "desk" || labels["tier"] != "front" {
		t.Errorf("%+v", samples[:2])
	}
	attributes := []Pair{{"database", "shop"}, {"user", "app"}, {"workload.labels.team", "billing"}, {"workload.labels.tier", "front"}}
	if got := samples[0].attributes(); !slices.Equal(got, attributes) {
		t.Errorf("%v", got)
	}
}

func TestNamesOfTheClientsCertificateMakePrincipals(t *testing.T) {
	policies := rules(t, shopCatalog, `{"a": {"rules": [
		{"who": {"client_certificate": {"subject": ["CN=orders"], "dns": ["a", "b"]}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	want := []string{"certificate a, certificate CN=orders", "certificate b, certificate CN=orders", "anybody else"}
	if got := names(samples); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	attributes := []Pair{{"database", "shop"}, {"client_certificate.dns", "a"}, {"client_certificate.subject", "CN=orders"}}
	if got := samples[0].attributes(); !slices.Equal(got, attributes) {
		t.Errorf("%v", got)
	}
}

func TestHeadersAndRequestsAreOfServicesAlone(t *testing.T) {
	policies := rules(t, `{"a": {"databases": [{"database": "shop"}], "services": [{"service": "api"}]}}`,
		`{"a": {"rules": [{"who": {"session": {"user": ["app"]}, "headers": {"x-desk": ["north", "south"]}}},
			{"who": {"listener": ["l"], "request": {"method": ["PUT"], "route": ["/x"]}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	want := []string{"app, x-desk north", "app, x-desk south", "listener l, method PUT, route /x", "anybody else @ api", "anybody else @ shop"}
	if got := names(samples); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if first := samples[0]; first.Service != "api" || first.Headers["x-desk"] != "north" || samples[1].Headers["x-desk"] != "south" {
		t.Errorf("%+v", samples[:2])
	}
}

func TestEveryDatabaseHasThePrincipals(t *testing.T) {
	policies := rules(t, `{"a": {"databases": [{"database": "shop"}, {"database": "hr"}], "services": [{"service": "api"}]},
		"b": {"databases": [{"database": "shop"}]}}`,
		`{"a": {"rules": [{"who": {"session": {"user": ["app"]}}}, {"who": {"session": {"user": ["hr"], "database": ["hr"]}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	want := []string{"app @ hr", "app @ shop", "hr, database hr", "anybody else @ api", "anybody else @ hr", "anybody else @ shop"}
	if got := names(samples); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	samples, _, err = FromRules(context.Background(), []Policies{policies}, "shop", monday)
	if got := names(samples); err != nil || !slices.Equal(got, []string{"app", "anybody else"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPrincipalsOfBothSidesAreCompared(t *testing.T) {
	old := rules(t, shopCatalog, `{"a": {"rules": [{"who": {"session": {"user": ["app"]}}}]}}`)
	new := rules(t, shopCatalog, `{"a": {"rules": [{"who": {"session": {"user": ["app", "jobs"]}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{old, new}, "", monday)
	if got := names(samples); err != nil || !slices.Equal(got, []string{"app", "jobs", "anybody else"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTooManyCombinationsAreCutAndTold(t *testing.T) {
	users := make([]string, maxOfOneWho+8)
	for i := range users {
		users[i] = fmt.Sprintf(`"u%d"`, i)
	}
	many := "[" + strings.Join(users, ",") + "]"
	policies := rules(t, shopCatalog, `{"a": {"rules": [{"who": {"session": {"user": `+many+`}}}]}}`)
	samples, notes, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	if err != nil || len(samples) != maxOfOneWho+1 || len(notes) != 2 || samples[maxOfOneWho].User != anybody {
		t.Errorf("%d samples, %q, %v", len(samples), notes, err)
	}
}

func TestPrincipalOfATimeAsksAtThatTime(t *testing.T) {
	for _, one := range []struct{ window, said, at string }{
		{`{"from": "08:00", "to": "18:00"}`, "at from 08:00 to 18:00", "2026-03-02T10:00:00Z"},
		{`{"days": ["tue", "wed"], "from": "08:00", "zone": "Europe/Berlin"}`, "at tue wed from 08:00 Europe/Berlin", "2026-03-03T08:00:00+01:00"},
		{`{"days": ["sun"], "from": "22:00", "to": "06:00"}`, "at sun from 22:00 to 06:00", "2026-03-08T22:00:00Z"},
		{`{"to": "06:00"}`, "at to 06:00", "2026-03-03T00:00:00Z"},
		{`{"days": ["mon"]}`, "at mon", "2026-03-02T10:00:00Z"},
	} {
		at, said := momentIn(fromJSON(t, one.window), monday)
		if at.Format(time.RFC3339) != one.at || said != one.said {
			t.Errorf("%s: %s %q", one.window, at.Format(time.RFC3339), said)
		}
	}
	// Past midnight a window belongs to the day on which it began.
	early := time.Date(2026, 3, 2, 5, 0, 0, 0, time.UTC)
	if at, _ := momentIn(fromJSON(t, `{"days": ["sun"], "from": "22:00", "to": "06:00"}`), early); !at.Equal(early) {
		t.Error(at)
	}
	if at, _ := momentIn(fromJSON(t, `{"from": "08:00", "zone": "Nowhere/None"}`), monday); !at.IsZero() {
		t.Error(at)
	}
}

// asking answers for a limit: the label is masked, unless the namespace is payments.
type asking struct{ canned }

func (a asking) Evaluate(ctx context.Context, query string, input any, at time.Time) (any, bool, error) {
	if query != "data.fieldveil.explain" {
		return a.canned.Evaluate(ctx, query, input, at)
	}
	by := `["the limit"]`
	if input.(map[string]any)["workload"].(map[string]any)["namespace"] == "payments" {
		by = `["the rule"]`
	}
	var value any
	err := json.Unmarshal([]byte(`{"subject": "", "break_glass": [], "labels": {"a.b": {"read": {"treatment": "null"}, "write": "refuse",
		"read_by": `+by+`, "write_by": [], "places": []}}}`), &value)
	return value, true, err
}

func TestPrincipalOfWhomALimitDecidesStandsThereAsExceptedToo(t *testing.T) {
	policies := asking{rules(t, shopCatalog, `{"a": {"rules": [
		{"name": "the rule", "who": {"session": {"user": ["app"]}}},
		{"name": "the limit", "unless": {"workload": {"namespace": ["payments", "x"]}}},
		{"name": "another limit", "unless": {"listener": ["y"]}}]}}`)}
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	want := []string{"app", "app, namespace payments", "app, namespace x", "anybody else", "anybody else, namespace payments", "anybody else, namespace x"}
	if got := names(samples); err != nil || !slices.Equal(got, want) || samples[1].Namespace != "payments" || samples[0].Namespace != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTenantIsMadeUpWhereThePrincipalChoosesIt(t *testing.T) {
	policies := rules(t, shopCatalog, `{"a": {"rules": [{"who": {"claims": {"org": ["x"]}}}, {"who": {"session": {"user": ["app"]}}}]}}`)
	policies["data.fieldveil.columns.places"] = fromJSON(t, `{
		"a": [{"definition": {"tenant": {"from": "claims.org"}}}],
		"b": [{"definition": {"tenant": {"from": "listener", "names": {"two": "t2", "one": "t1"}}}}],
		"c": [{"definition": {"tenant": {"from": "session.user"}}}],
		"d": [{"definition": {"tenant": "fixed"}}]}`)
	samples, notes, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	if err != nil || len(notes) != 2 || len(samples) != 3 {
		t.Fatalf("%q, %q, %v", names(samples), notes, err)
	}
	if samples[0].Claims["org"] != "x" || samples[1].Claims["org"] != madeUpTenant || samples[1].Listener != "one" || samples[1].User != "app" {
		t.Errorf("%+v", samples)
	}
}

func TestARuleThatNamesAServiceAsItsDatabaseSpeaksOfTheService(t *testing.T) {
	policies := rules(t, `{"a": {"databases": [{"database": "shop"}, {"database": "both"}],
			"services": [{"service": "api"}, {"service": "both"}]}}`,
		`{"a": {"rules": [{"who": {"session": {"database": ["api", "shop", "both", "none"]}, "claims": {"team": ["care"]}}}]}}`)
	samples, _, err := FromRules(context.Background(), []Policies{policies}, "", monday)
	if err != nil {
		t.Fatal(err)
	}
	var places [][2]string
	for _, sample := range samples {
		if sample.User != anybody {
			places = append(places, [2]string{sample.Database, sample.Service})
		}
	}
	want := [][2]string{{"", "api"}, {"shop", ""}, {"both", ""}, {"", "both"}, {"none", ""}}
	if !slices.Equal(places, want) {
		t.Errorf("%q", places)
	}
}
