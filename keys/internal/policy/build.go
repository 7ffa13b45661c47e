package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// roots are what a bundle owns: when it takes another's place, OPA takes away all
// of that one below them and touches nothing else. A bundle with other roots would
// let parts of two revisions stand side by side.
var roots = []string{"catalog", "fieldveil", "rules", "schemas", "system/log", "tokens"}

// maskPackage is that of what is left out of decision logs.
const maskPackage = "system.log"

// revisions stand in plans, several of them joined by commas, and in file names.
var revisionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:+/@-]{0,127}$`)

// Built is a bundle that OPA takes.
type Built struct {
	Content  []byte
	Revision string
}

// Build makes a bundle of policies that were found sound. The same policies, the
// same revision and the same key make the same bytes. Without a revision it is the
// hash of what is in it; without a signature it is not signed.
func (p *Policy) Build(place, revision string, signature *Signature) (*Built, error) {
	if revision != "" && !revisionForm.MatchString(revision) {
		return nil, fault.Input("--revision \""+revision+"\"", "not a revision", "use up to 128 of A-Z a-z 0-9 . _ : + / @ -, such as a commit's hash")
	}
	b, err := p.bundle(place)
	if err != nil {
		return nil, err
	}
	if revision == "" {
		if revision, err = contentHash(b); err != nil {
			return nil, fault.Failure(place, "its revision can not be made ("+err.Error()+")", "name one with --revision")
		}
	}
	b.Manifest.Revision = revision
	if signature != nil {
		if err := signature.sign(b); err != nil {
			return nil, fault.Failure(place, "it can not be signed ("+err.Error()+")", "see that the key is whole")
		}
	}
	var content bytes.Buffer
	if err := bundle.Write(&content, *b); err != nil {
		return nil, fault.Failure(place, "the bundle can not be written ("+err.Error()+")", "report it with the policies that it was built from")
	}
	if signature != nil {
		if err := signature.verify(content.Bytes(), place); err != nil {
			return nil, err
		}
	}
	return &Built{Content: content.Bytes(), Revision: revision}, nil
}

// bundle puts data and Rego together as OPA has them in a bundle.
func (p *Policy) bundle(place string) (*bundle.Bundle, error) {
	b := &bundle.Bundle{Data: map[string]any{}}
	owned := slices.Clone(roots)
	b.Manifest.Roots = &owned
	b.Manifest.SetRegoVersion(ast.RegoV1)
	for key, value := range p.data {
		if key == "system" && !p.wrote(key) { // the manifests of bundles that were read
			continue
		}
		if !slices.Contains(roots, key) {
			return nil, p.outside(key, "data."+key)
		}
		b.Data[key] = value
	}
	paths := map[string]string{}
	masked := false
	for _, f := range p.sources {
		module := p.modules[f.name]
		name := strings.TrimPrefix(module.Package.Path.String(), "data.")
		if !isOwned(name) {
			return nil, fault.Input(f.name, "package "+name+" is outside what a bundle owns", "name it fieldveil.… or system.log, or serve it to OPA in a bundle of its own")
		}
		if other, taken := paths[f.slashed]; taken {
			return nil, fault.Input(f.name, "in the bundle it would stand where "+other+" does", "give one of them another name")
		}
		paths[f.slashed] = f.name
		masked = masked || name == maskPackage
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: f.slashed, Path: f.slashed, Raw: f.content, Parsed: module})
	}
	if !masked {
		return nil, fault.Input(place, "it has no package system.log, so that tokens would stand in decision logs", "take the folder system of the library along, or leave the library out for the built-in one")
	}
	slices.SortFunc(b.Modules, func(x, y bundle.ModuleFile) int { return cmp.Compare(x.Path, y.Path) })
	return b, nil
}

// wrote tells whether a file of data holds something of data.KEY.
func (p *Policy) wrote(key string) bool {
	return slices.ContainsFunc(p.documents, func(d *document) bool { return hasKey(d, key) })
}

func (p *Policy) outside(key, what string) error {
	place := what
	for _, d := range p.documents {
		if hasKey(d, key) {
			place = d.file
		}
	}
	return fault.Input(place, what+" is outside what a bundle owns", "keep to "+strings.Join(roots, ", ")+", or serve it to OPA in a bundle of its own")
}

// isOwned tells whether a package lies below the roots.
func isOwned(name string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		owned := strings.ReplaceAll(root, "/", ".")
		return name == owned || strings.HasPrefix(name, owned+".")
	})
}

// contentHash names what is in a bundle, for want of another name.
func contentHash(b *bundle.Bundle) (string, error) {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	if err := encoder.Encode(b.Data); err != nil {
		return "", err
	}
	for _, module := range b.Modules {
		if err := encoder.Encode([]any{module.Path, module.Raw}); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}
