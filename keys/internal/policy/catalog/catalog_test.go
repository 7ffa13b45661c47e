package catalog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestExampleCatalogIsReadAsThePolicyLibraryReadsIt(t *testing.T) {
	catalog, err := Read([]string{"../../../../policies/catalog"})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := catalog.Columns(Database{"postgres", "shop"}, Table{"public", "customer"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, column := range columns {
		names = append(names, column.Name+"="+column.Label)
	}
	if got := strings.Join(names, " "); got != "card=customer.card email=customer.email notes=customer.notes phone=customer.phone ssn=customer.ssn" {
		t.Error(got)
	}
	if ssn := columns[4]; ssn.Storage != (Storage{Protection: Deterministic, Keyset: "pii", Type: "text"}) {
		t.Errorf("%+v", ssn)
	}
}

func TestColumnsOfOneTableAreTakenFromAllCatalogs(t *testing.T) {
	first := write(t, `{"databases": [{"protocol": "postgres", "database": "hr", "columns": {
	  "public.\"Order Items\"": {"Born": {"protection": "randomized", "keyset": "pii", "type": "date", "tenant": "acme"}}}}]}`)
	second := write(t, "labels: {a.b: {protection: indexed, keyset: k, type: text}}\n"+
		"databases:\n- {protocol: postgres, database: hr, columns: {'public.\"Order Items\"': {b: a.b}}}\n"+
		"- {protocol: postgres, database: other, columns: {'public.\"Order Items\"': {c: a.b}}}\n")
	rules := write(t, "rules: [{name: x, labels: ['*'], write: seal}]")
	catalog, err := Read([]string{first, second, rules})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ParseTable(`public."Order Items"`)
	if err != nil || table.String() != `public."Order Items"` {
		t.Fatal(table, err)
	}
	columns, err := catalog.Columns(Database{"postgres", "hr"}, table)
	if err != nil || len(columns) != 2 {
		t.Fatalf("%+v, %v", columns, err)
	}
	if columns[0].Label != `public."Order Items".Born` || columns[0].Tenant.Name != "acme" || columns[1].Label != "a.b" {
		t.Errorf("%+v", columns)
	}
}

func TestWhatCatalogsSayBesideStorageIsPassedOver(t *testing.T) {
	catalog, err := Read([]string{write(t, "labels:\n"+
		"  a.b: {protection: indexed, keyset: k, type: text, mask: 'partial(1,\"*\",0)', distinct_values: enum, accept_leakage: joined}\n"+
		"databases: [{protocol: postgres, database: d, columns: {p.t: {b: a.b}}}]\n"+
		"services: [{protocol: http, service: orders, paths: {$.b: a.b}}]\n")})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := catalog.Columns(Database{"postgres", "d"}, Table{"p", "t"})
	if err != nil || len(columns) != 1 || columns[0].Storage != (Storage{Protection: Indexed, Keyset: "k", Type: "text"}) {
		t.Errorf("%+v, %v", columns, err)
	}
}

func TestTenantThatThePrincipalChoosesIsRead(t *testing.T) {
	catalog, err := Read([]string{write(t, "labels:\n"+
		"  a.b: {protection: indexed, keyset: k, type: text, tenant: {from: session.user, names: {u: acme}}}\n"+
		"  a.c: {protection: indexed, keyset: k/acme, type: text, tenant: acme}\n"+
		"databases: [{protocol: postgres, database: d, columns: {p.t: {b: a.b, c: a.c}}}]\n")})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := catalog.Columns(Database{"postgres", "d"}, Table{"p", "t"})
	if err != nil || !columns[0].Tenant.Chosen || columns[1].Tenant != (Tenant{Name: "acme"}) {
		t.Errorf("%+v, %v", columns, err)
	}
}

func TestUnsoundCatalogsAreRefused(t *testing.T) {
	label := "labels: {a: {protection: indexed, keyset: k, type: text}}\n"
	for text, reason := range map[string]string{
		"databases: [{protocol: postgres, database: d, columns: {p.t: {c: nowhere}}}]": "nowhere is not defined",
		"databases: [{protocol: postgres, database: other, columns: {p.t: {c: a}}}]":   "no column of p.t",
		"labels: {a: {protection: randomized, keyset: k, type: text}}":                 "two ways",
		"databases: [7]": "no catalog",
		"databases: [{protocol: postgres, database: d, columns: {p.t: {c: a}}}, {protocol: postgres, database: d, columns: {p.t: {c: {protection: indexed, keyset: k, type: text}}}}]": "two labels",
	} {
		catalog, err := Read([]string{write(t, label), write(t, text)})
		if err == nil {
			_, err = catalog.Columns(Database{"postgres", "d"}, Table{"p", "t"})
		}
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := Read([]string{path}); err == nil {
			t.Errorf("%s was read", path)
		}
	}
	for _, name := range []string{"", "customer", "a.b.c", "A.b", `a."b`, "a.b;c"} {
		if _, err := ParseTable(name); err == nil {
			t.Errorf("%q is a table", name)
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	testfile.Write(t, path, text)
	return path
}
