package explain

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const saidPolicies = `{
	"data.tokens": {"idp": {"issuer": "https://idp", "audience": "db", "algorithms": ["ES256"], "jwks": {"keys": [{"kty": "EC", "kid": "one", "x": "a"}]}}},
	"data.catalog": {"shop": {
		"labels": {"c.ssn": {"mask": "last4", "type": "text"}, "c.card": {"type": "text", "tenant": {"from": "claims.org", "names": {"a": "t1", "b": "t2"}}}},
		"databases": [{"database": "shop", "max_stale_seconds": 600, "columns": {"public.c": {"ssn": "c.ssn"}}}]}},
	"data.rules": {"shop": {"rules": [
		{"name": "app", "who": {"session": {"user": ["app"]}, "claims": {"team": ["s"]}}, "labels": ["c.*"], "read": {"treatment": "reveal"}, "write": "seal"},
		{"name": "day", "who": {"session": {"user": ["clerk"]}, "time": [{"from": "08:00", "to": "18:00"}]}, "labels": ["c.ssn"], "read": {"treatment": "mask"}},
		{"name": "glass", "who": {"session": {"user": ["oncall"]}}, "labels": ["c.ssn"], "read": {"treatment": "reveal"},
			"break_glass": {"reason": "INC", "expires": "2026-03-03T10:00:00Z"}},
		{"name": "limit", "unless": {"workload": {"namespace": ["pay"]}}, "labels": ["c.ssn"], "read": {"treatment": "null"}}]}}}`

// saying is the policies, changed by pairs of old and new text.
func saying(t *testing.T, changes ...string) canned {
	t.Helper()
	changed := saidPolicies
	for i := 0; i < len(changes); i += 2 {
		if strings.Count(changed, changes[i]) != 1 {
			t.Fatalf("%q stands there %d times", changes[i], strings.Count(changed, changes[i]))
		}
		changed = strings.Replace(changed, changes[i], changes[i+1], 1)
	}
	var policies canned
	if err := json.Unmarshal([]byte(changed), &policies); err != nil {
		t.Fatal(err)
	}
	return policies
}

func comparedData(t *testing.T, d *Diff, old, new Policies) []string {
	t.Helper()
	samples := []Sample{{Name: "app", Database: "shop"}}
	if err := d.CompareData(context.Background(), old, new, samples, "", monday); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, one := range d.Data {
		found = append(found, string(one.Verdict)+" "+one.Place+": "+one.Old+" → "+one.New)
	}
	return found
}

func TestWhatPoliciesSayIsComparedWhoeverAsks(t *testing.T) {
	for name, one := range map[string]struct {
		changes []string
		want    []string
	}{
		"nothing":           {nil, nil},
		"an issuer":         {[]string{`{"idp"`, `{"evil": {"issuer": "https://evil"}, "idp"`}, []string{"widened tokens evil:  → issuer https://evil"}},
		"an audience":       {[]string{`"db"`, `"other"`}, []string{"changed tokens idp: audience: db → other"}},
		"a key more":        {[]string{`"x": "a"}`, `"x": "a"}, {"kty": "EC", "kid": "two"}`}, []string{"widened tokens idp: jwks.keys:  → key cb5d96dc (kid two)"}},
		"a key replaced":    {[]string{`"x": "a"`, `"x": "b"`}, []string{"changed tokens idp: jwks.keys: key 913d294d (kid one) → key dbf82b70 (kid one)"}},
		"an algorithm":      {[]string{`["ES256"]`, `["RS256", "ES256"]`}, []string{"widened tokens idp: algorithms:  → RS256"}},
		"leeway":            {[]string{`"audience": "db"`, `"audience": "db", "leeway_seconds": 60`}, []string{"widened tokens idp: leeway_seconds:  → 60"}},
		"no issuer":         {[]string{`"idp": {"issuer": "https://idp", "audience": "db", "algorithms": ["ES256"], "jwks": {"keys": [{"kty": "EC", "kid": "one", "x": "a"}]}}`, ``}, []string{"narrowed tokens idp: issuer https://idp → "}},
		"tokens accepted":   {[]string{`{"shop": {"rules"`, `{"shop": {"accept": {"token": ["comment"]}, "rules"`}, []string{`widened rules: accept: token:  → comment`}},
		"tenants swapped":   {[]string{`"a": "t1", "b": "t2"`, `"a": "t2", "b": "t1"`}, []string{"changed label c.card: tenant.names.a: t1 → t2", "changed label c.card: tenant.names.b: t2 → t1"}},
		"a tenant more":     {[]string{`"a": "t1"`, `"evil": "t1", "a": "t1"`}, []string{"changed label c.card: tenant.names.evil:  → t1"}},
		"a mask":            {[]string{`"mask": "last4"`, `"mask": "email"`}, []string{"changed label c.ssn: mask: last4 → email"}},
		"staleness":         {[]string{"600", "86400"}, []string{"widened database shop: max_stale_seconds: 600 → 86400"}},
		"less staleness":    {[]string{"600", "301"}, []string{"narrowed database shop: max_stale_seconds: 600 → 301"}},
		"a plan's age":      {[]string{`"max_stale_seconds"`, `"ttl_seconds": 31, "max_stale_seconds"`}, []string{"widened database shop: ttl_seconds:  → 31"}},
		"a default told":    {[]string{`"max_stale_seconds"`, `"ttl_seconds": 30, "max_stale_seconds"`}, nil},
		"a database more":   {[]string{`{"database": "shop"`, `{"database": "hr", "columns": {}}, {"database": "shop"`}, []string{"changed places of hr:  → differ, and no principal asks for them"}},
		"a window":          {[]string{"18:00", "20:00"}, []string{`changed rule day: who.time: {"from":"08:00","to":"18:00"} → {"from":"08:00","to":"20:00"}`}},
		"a user more":       {[]string{`["app"]`, `["app", "x"]`}, []string{"widened rule app: who.session.user:  → x"}},
		"a user less":       {[]string{`["app"]`, `["other"]`}, []string{"changed rule app: who.session.user: app → other"}},
		"a condition less":  {[]string{`, "claims": {"team": ["s"]}`, ``}, []string{`widened rule app: who.claims: {"team":["s"]} → `}},
		"a condition more":  {[]string{`{"team": ["s"]}`, `{"team": ["s"], "org": ["o"]}`}, []string{"narrowed rule app: who.claims.org:  → o"}},
		"glass for longer":  {[]string{"2026-03-03", "2026-03-31"}, []string{"widened rule glass: break_glass.expires: 2026-03-03T10:00:00Z → 2026-03-31T10:00:00Z"}},
		"glass for shorter": {[]string{"2026-03-03", "2026-03-02"}, []string{"narrowed rule glass: break_glass.expires: 2026-03-03T10:00:00Z → 2026-03-02T10:00:00Z"}},
		"glass for good": {[]string{`,
			"break_glass": {"reason": "INC", "expires": "2026-03-03T10:00:00Z"}`, ``},
			[]string{`changed rule glass: break_glass: {"expires":"2026-03-03T10:00:00Z","reason":"INC"} → `}},
		"another reason":       {[]string{`"INC"`, `"INC-2"`}, nil},
		"a limit excepts more": {[]string{`["pay"]`, `["pay", "shop"]`}, []string{"widened rule limit: unless.workload.namespace:  → shop"}},
		"a limit on more":      {[]string{`"labels": ["c.ssn"], "read": {"treatment": "null"}`, `"labels": ["c.ssn", "c.card"], "read": {"treatment": "null"}`}, []string{"narrowed rule limit: labels:  → c.card"}},
		"a looser limit":       {[]string{`"null"`, `"conceal"`}, []string{"widened rule limit: read: null → conceal"}},
		"no limit": {[]string{`,
		{"name": "limit", "unless": {"workload": {"namespace": ["pay"]}}, "labels": ["c.ssn"], "read": {"treatment": "null"}}`, ``}, []string{"widened rule limit: a rule → "}},
		"labels in another way": {[]string{`"labels": ["c.*"]`, `"labels": ["c.ssn", "c.card"]`}, nil},
		"a label more, and rules of it": {[]string{
			`"c.card":`, `"c.name": {"type": "text"}, "c.card":`, `"labels": ["c.ssn"], "read": {"treatment": "null"}`, `"labels": ["c.ssn", "c.name"], "read": {"treatment": "null"}`,
			`"rules": [`, `"rules": [{"name": "new", "who": {"session": {"user": ["x"]}}, "labels": ["c.name"], "read": {"treatment": "mask"}},`}, nil},
		"another name": {[]string{`"name": "app"`, `"name": "the application"`}, nil},
		"a rule that takes": {[]string{`"rules": [`, `"rules": [{"name": "no", "who": {"session": {"user": ["x"]}}, "labels": ["c.ssn"], "read": {"treatment": "refuse"}},`},
			[]string{"changed rule no:  → a rule"}},
		"a rule that gives": {[]string{`"rules": [`, `"rules": [{"name": "yes", "who": {"session": {"user": ["x"]}}, "labels": ["c.ssn"], "read": {"treatment": "reveal"}},`},
			[]string{"widened rule yes:  → a rule"}},
	} {
		d := &Diff{Data: []DataChange{}}
		if got := comparedData(t, d, saying(t), saying(t, one.changes...)); !slices.Equal(got, one.want) {
			t.Errorf("%s:\n%s\nnot\n%s", name, strings.Join(got, "\n"), strings.Join(one.want, "\n"))
		}
		if d.Empty() != (one.want == nil) || d.Summary.Data != len(one.want) {
			t.Errorf("%s: %+v", name, d.Summary)
		}
	}
}

func TestWhatASampleShowsOfARuleIsNotSaidAgain(t *testing.T) {
	change := Change{Verdict: Narrowed, Label: "c.ssn", Principal: "clerk", Old: Access{ReadBy: []string{"day"}}}
	d := &Diff{Changes: []Change{change}}
	old, narrower := saying(t), saying(t, `{"treatment": "mask"}`, `{"treatment": "null"}`)
	if got := comparedData(t, d, old, narrower); len(got) != 0 {
		t.Errorf("%q", got)
	}
	d = &Diff{Changes: []Change{change}}
	if got := comparedData(t, d, narrower, old); !slices.Equal(got, []string{"widened rule day: read: null → mask"}) {
		t.Errorf("%q", got)
	}
}

type coded struct {
	canned
	code map[string]string
}

func (c coded) Code() map[string]string { return c.code }

func TestOtherRegoIsChanged(t *testing.T) {
	old := coded{saying(t), map[string]string{"own/a.rego": "package a", "own/b.rego": "package b"}}
	new := coded{saying(t), map[string]string{"own/a.rego": "package a\nx := 1", "own/b.rego": "package b"}}
	if got := comparedData(t, &Diff{}, old, new); !slices.Equal(got, []string{"changed Rego: own/a.rego: other text → other text"}) {
		t.Errorf("%q", got)
	}
}

func TestOfTheDataOnlyWhatConcernsTheWantedLabelsIsLeft(t *testing.T) {
	d := &Diff{}
	comparedData(t, d, saying(t), saying(t, `"a": "t1"`, `"a": "t3"`, `"mask": "last4"`, `"mask": "email"`, `"db"`, `"other"`))
	if err := d.Only("c.card"); err != nil || len(d.Data) != 2 || d.Data[0].Place != "label c.card: tenant.names.a" || d.Summary.Data != 2 {
		t.Errorf("%v: %+v", err, d.Data)
	}
}

func TestLabelsOfADatabaseThatNobodyAsksForAreCompared(t *testing.T) {
	d := &Diff{}
	narrower := saying(t, `"type": "text"}, "c`, `"type": "date"}, "c`)
	if err := d.CompareData(context.Background(), saying(t), narrower, nil, "", monday); err != nil || len(d.Data) != 1 || d.Data[0].Place != "places of shop" {
		t.Errorf("%v: %+v", err, d.Data)
	}
	d = &Diff{}
	if err := d.CompareData(context.Background(), saying(t), narrower, nil, "hr", monday); err != nil || len(d.Data) != 0 {
		t.Errorf("of another database: %v: %+v", err, d.Data)
	}
}

func TestRuleOfALabelThatTakesAnothersPlaceIsCompared(t *testing.T) {
	d := &Diff{Places: []PlaceChange{{Place: "shop.public.c.ssn", OldLabel: "c.ssn", NewLabel: "c.name"}}}
	got := comparedData(t, d, saying(t), saying(t, `"c.card":`, `"c.name": {"type": "text"}, "c.card":`,
		`"rules": [`, `"rules": [{"name": "new", "who": {"session": {"user": ["x"]}}, "labels": ["c.name"], "read": {"treatment": "mask"}},`))
	if !slices.Contains(got, "changed rule new:  → a rule") {
		t.Errorf("%q", got)
	}
}
