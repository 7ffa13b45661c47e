package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/policy"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestBundleSaysWhatTheFolderThatItWasBuiltOfSays(t *testing.T) {
	const folder = "../../../../policies"
	loaded, err := policy.Load([]string{folder}, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	built, err := loaded.Build("policies", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	testfile.Write(t, path, built.Content)
	customer := Table{"public", "customer"}
	var columns [2][]Column
	for i, place := range []string{folder + "/catalog", path} {
		catalog, err := Read([]string{place})
		if err != nil {
			t.Fatal(err)
		}
		if columns[i], err = catalog.Columns(Database{"postgres", "shop"}, customer); err != nil {
			t.Fatal(err)
		}
	}
	if len(columns[0]) == 0 || !reflect.DeepEqual(columns[0], columns[1]) {
		t.Errorf("%+v, and in the bundle %+v", columns[0], columns[1])
	}
}

func TestBundleThatIsNoneOrHoldsNoCatalogIsRefused(t *testing.T) {
	var empty, shapeless bytes.Buffer
	for into, data := range map[*bytes.Buffer]map[string]any{
		&empty:     {"rules": map[string]any{}},
		&shapeless: {"catalog": map[string]any{"shop": map[string]any{"labels": "all"}}},
	} {
		if err := bundle.Write(into, bundle.Bundle{Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for reason, content := range map[string][]byte{
		"no bundle of policies": {0x1f, 0x8b, 8},
		"no catalog is in it":   empty.Bytes(),
		"its catalog shop":      shapeless.Bytes(),
	} {
		path := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
		testfile.Write(t, path, content)
		if _, err := Read([]string{path}); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// As the kubelet mounts a ConfigMap with a catalog of its own: each file is there twice.
func TestMountedCatalogIsReadThroughItsLinks(t *testing.T) {
	mount := t.TempDir()
	version := filepath.Join(mount, "..2026_11_22", "shop")
	testfile.MakeFolder(t, version)
	text := "labels: {a.b: {protection: indexed, keyset: k, type: text}}\ndatabases: [{protocol: postgres, database: d, columns: {p.t: {b: a.b}}}]\n"
	for _, path := range []string{filepath.Join(version, "data.yaml"), filepath.Join(filepath.Dir(version), "data.yaml")} {
		testfile.Write(t, path, text)
	}
	for link, to := range map[string]string{"..data": "..2026_11_22", "data.yaml": "..data/data.yaml", "shop": "..data/shop"} {
		if err := os.Symlink(to, filepath.Join(mount, link)); err != nil {
			t.Fatal(err)
		}
	}
	catalog, err := Read([]string{mount})
	if err != nil {
		t.Fatal(err)
	}
	if columns, err := catalog.Columns(Database{"postgres", "d"}, Table{"p", "t"}); err != nil || len(columns) != 1 || columns[0].Label != "a.b" {
		t.Error(columns, err)
	}
}
