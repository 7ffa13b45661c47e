package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/bundle"
	"go.yaml.in/yaml/v3"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxBundleBytes bounds what a bundle holds, as it is for policies.
const maxBundleBytes = 64 << 20

// bundleMagic is gzip's: no file of YAML or JSON begins so.
var bundleMagic = []byte{0x1f, 0x8b}

// readBundle reads the catalogs of a bundle of policies, data.catalog.NAME. Its signature
// is not looked at: what is sealed, and under which label, the sidecar's policies say,
// and a catalog that says otherwise shows as values that are not as expected.
func (c *Catalog) readBundle(path string, content []byte) error {
	read, err := bundle.NewReader(bytes.NewReader(content)).WithSizeLimitBytes(maxBundleBytes).WithSkipBundleVerification(true).Read()
	if err != nil {
		return fault.Input(path, "it is no bundle of policies that OPA takes", "make it with: fieldveil policy build")
	}
	catalogs, _ := read.Data["catalog"].(map[string]any)
	if len(catalogs) == 0 {
		return fault.Input(path, "no catalog is in it", "name a bundle of policies, or the folder of the catalogs")
	}
	names := make([]string, 0, len(catalogs))
	for name := range catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		// JSON is YAML, and this has one way to read a catalog.
		text, err := json.Marshal(catalogs[name])
		if err != nil {
			return fault.Input(path, "its catalog "+name+" can not be read", "make it with: fieldveil policy build")
		}
		var one file
		if err := yaml.Unmarshal(text, &one); err != nil {
			return fault.Input(path, "its catalog "+name+" is not of a catalog's shape", "see what is wrong with: fieldveil policy check")
		}
		if err := c.add(path, &one); err != nil {
			return err
		}
	}
	return nil
}
