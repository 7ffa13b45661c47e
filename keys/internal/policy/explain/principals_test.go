package explain

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func principalsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "principals.yaml")
	testfile.Write(t, path, text)
	return path
}

func TestPrincipalHasAllThatTheInputHas(t *testing.T) {
	samples, err := ReadPrincipals(principalsFile(t, `
- name: support at night
  database: shop
  listener: orders-db
  user: app
  role: support
  application_name: helpdesk
  purpose: refund
  source: 10.1.2.3
  workload: {namespace: shop, service_account: orders, spiffe_id: "spiffe://x/y", labels: {team: billing}}
  client_certificate: {subject: CN=orders, dns: [a, b]}
  claims: {tenant: acme, groups: [a, b], level: 3, admin: true, day: 2026-03-02, org: {unit: x}}
  at: 2026-03-02T22:30:00+01:00
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"protocol": "postgres", "listener": "orders-db", "token": "", "comment": map[string]any{"purpose": "", "token": ""},
		"workload": map[string]any{"namespace": "shop", "service_account": "orders", "spiffe_id": "spiffe://x/y",
			"labels": map[string]string{"team": "billing"}},
		"session": map[string]any{"user": "app", "role": "support", "database": "shop", "application_name": "helpdesk",
			"purpose": "refund", "source": "10.1.2.3"},
		"client_certificate": map[string]any{"subject": "CN=orders", "dns": []string{"a", "b"}, "uri": []string{}, "email": []string{}},
		"claims": map[string]any{"tenant": "acme", "groups": []any{"a", "b"}, "level": 3, "admin": true, "day": "2026-03-02",
			"org": map[string]any{"unit": "x"}},
	}
	if got := samples[0].Input(); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v", got)
	}
	if at := samples[0].At; !at.Equal(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)) {
		t.Error(at)
	}
}

func TestRoleIsTheUserUnlessTold(t *testing.T) {
	session := Sample{User: "app"}.Input()["session"].(map[string]any)
	if session["role"] != "app" {
		t.Errorf("%v", session)
	}
}

func TestServiceIsAskedForOverHTTP(t *testing.T) {
	input := Sample{Service: "orders-api"}.Input()
	if input["protocol"] != "http" || input["session"].(map[string]any)["database"] != "orders-api" {
		t.Errorf("%v", input)
	}
}

func TestPrincipalOfAServiceHasHeadersAndAKindOfRequests(t *testing.T) {
	samples, err := ReadPrincipals(principalsFile(t, `
- name: billing
  service: shop-api
  user: ada
  headers: {x-desk: north, x-team: billing}
  method: GET
  route: /customers/{id}
`))
	if err != nil {
		t.Fatal(err)
	}
	input := samples[0].Input()
	if want := map[string]string{"x-desk": "north", "x-team": "billing"}; !reflect.DeepEqual(input["headers"], want) {
		t.Errorf("%v", input["headers"])
	}
	if want := map[string]any{"method": "GET", "route": "/customers/{id}"}; !reflect.DeepEqual(input["request"], want) {
		t.Errorf("%v", input["request"])
	}
	if session := input["session"].(map[string]any); session["user"] != "ada" || session["role"] != "" {
		t.Errorf("%v", session)
	}
	want := []Pair{{"service", "shop-api"}, {"user", "ada"}, {"method", "GET"}, {"route", "/customers/{id}"},
		{"headers.x-desk", "north"}, {"headers.x-team", "billing"}}
	if got := samples[0].attributes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestFaultyPrincipalsAreNamedByLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   ": it is empty",
		"name: x":                            ":1: it is not a list of principals",
		"[]":                                 ":1: it is not a list of principals",
		"- x":                                ":1: it is not a principal",
		"- user: app":                        ":1: name is missing",
		"- name: a\n  usr: b":                `:2: a principal has no "usr"`,
		"- name: a\n  user: b\n  user: c":    ":3: user stands there twice",
		"- name: a\n- name: b\n- name: a":    `:3: name: "a" is the name of the one in line 1 too`,
		"- name: a\n  user: 5":               ":2: user: it is not a text",
		"- name: a\n  user: ''":              ":2: user: it is empty",
		"- name: \"a\\nb\"":                  ":1: name: it is empty or has control characters",
		"- name: a\n  at: tomorrow":          ":2: at: it is not a date and time of RFC 3339",
		"- name: a\n  at: 2026-03-02":        ":2: at: it is not a date and time of RFC 3339",
		"- name: a\n  claims: x":             ":2: claims: they are not a mapping",
		"- name: a\n  workload: {pod: x}":    `:2: a workload has no "pod"`,
		"- name: a\n  workload: {labels: x}": ":2: it is not a mapping of labels",
		"- name: a\n  workload: {labels: {x: 5}}":   ":2: x: it is not a text",
		"- name: a\n  client_certificate: {cn: x}":  `:2: a certificate has no "cn"`,
		"- name: a\n  client_certificate: {uri: x}": ":2: uri: it is not a list",
		"- name: a\n  database: x\n  service: y":    ":1: database and service are both given",
		"- name: a\n  headers: x":                   ":2: it is not a mapping of headers",
		"- name: a\n  headers: {X-Desk: n}":         ":2: headers: X-Desk is not in lower case",
		"- name: a\n  headers: {x: 5}":              ":2: x: it is not a text",
		"- name: a\n  headers: {x: a, x: b}":        ":2: x stands there twice",
		"- name: a\n  database: x\n  method: y":     ":1: a database knows no headers, methods and routes",
		"- name: &n a\n  user: *n":                  ":2: user: it is not a text",
		"- name: a\n  claims: &c\n    x: *c":        ":3: claims: an alias stands there",
		"- name: a\n  claims: {x: 1, x: 2}":         ":2: x stands there twice",
		"- name: " + strings.Repeat("n", 81):        ":1: name: it is longer than 80 characters",
		"- {":                                       ": it is not YAML",
	} {
		path := principalsFile(t, text)
		_, err := ReadPrincipals(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPrincipalsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range MaxPrincipals + 1 {
		fmt.Fprintf(&text, "- name: p%d\n", i)
	}
	if _, err := ReadPrincipals(principalsFile(t, text.String())); err == nil || !strings.Contains(err.Error(), ":201: there are more than 200 principals") {
		t.Error(err)
	}
	if _, err := ReadPrincipals(principalsFile(t, strings.Repeat("#", maxPrincipalsBytes+1))); err == nil || !strings.Contains(err.Error(), "it is too long") {
		t.Error(err)
	}
	if _, err := ReadPrincipals("/dev/null"); err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Error(err)
	}
}
