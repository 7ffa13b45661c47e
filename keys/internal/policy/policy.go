// Package policy reads policies as Open Policy Agent does - catalogs, rules and the
// library - and evaluates them: for the commands that check and explain them.
//
// It reads nothing from the network, and no http.send of a policy is answered.
package policy

import (
	"os"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/policies"
)

// Options say how policies are read.
type Options struct {
	VerificationKey   string // file of the public key, PEM, of which every bundle must be signed; empty: not verified
	VerificationScope string // that the signature must have
}

// Policy is policies that were read, together.
type Policy struct {
	BuiltInLibrary bool // the library is this program's own, not one of the paths
	data           map[string]any
	documents      []*document
	strays         []file // YAML and JSON that no bundle would hold
	leftOut        []file // what somebody may have meant to be read
	modules        map[string]*ast.Module
	sources        []file // the text of the modules
	evaluator
}

func newPolicy() *Policy {
	return &Policy{data: map[string]any{}, modules: map[string]*ast.Module{}}
}

const builtIn = "built-in library"

// Load reads folders and bundles together and compiles their Rego. Where none of
// them holds the library, that of this program is taken. The
// error is a *fault.Fault or Problems.
func Load(paths []string, options Options) (*Policy, error) {
	return load(paths, options, ofPolicies)
}

// load reads of folders what is wanted, and of bundles policies alone.
func load(paths []string, options Options, wanted choice) (*Policy, error) {
	signed, err := options.verification()
	if err != nil {
		return nil, err
	}
	p := newPolicy()
	var problems Problems
	for _, place := range unique(paths) {
		files, manifest, err := readPath(place, signed, wanted)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(f file) bool { return f.leftOut == "" }) {
			return nil, fault.Input(place, "there is no policy in it: no data.yaml, data.json or Rego", "name a folder that holds catalog/NAME/data.yaml, or a bundle")
		}
		problems = append(problems, p.add(files)...)
		p.addManifest(place, manifest)
	}
	problems = append(problems, p.misplaced()...)
	if len(problems) > 0 {
		return nil, problems.sorted()
	}
	if !p.hasLibrary() {
		p.BuiltInLibrary = true
		own := slices.Clone(p.sources)
		files, err := folderFiles(policies.Library, builtIn, ofPolicies)
		if err != nil {
			return nil, err
		}
		problems = append(problems, p.add(files)...)
		problems = append(problems, p.inLibrary(own)...)
	}
	problems = append(problems, p.merge()...)
	if len(problems) > 0 {
		return nil, problems.sorted()
	}
	return p, p.compile()
}

// readPath reads a folder, a bundle or a file of Rego.
func readPath(place string, signed *bundle.VerificationConfig, wanted choice) ([]file, map[string]any, error) {
	const remedy = "name a folder of policies, or a bundle .tar.gz"
	info, err := os.Stat(place)
	if err != nil {
		return nil, nil, fault.Input(place, fault.Cause(err), remedy)
	}
	if info.IsDir() {
		files, err := folderFiles(os.DirFS(place), place, wanted)
		return files, nil, err
	}
	content, err := readBounded(place, remedy)
	if err != nil {
		return nil, nil, err
	}
	switch f := (file{name: place, slashed: info.Name(), content: content}); {
	case f.rego():
		return []file{f}, nil, nil
	case f.structured():
		return nil, nil, fault.Input(place, "a single file of data does not say where it lies below data", "name the folder that holds catalog/ and rules/")
	case strings.HasSuffix(place, ".tar.gz"), strings.HasSuffix(place, ".tgz"):
		return readBundle(content, place, signed)
	}
	return nil, nil, fault.Input(place, "neither a folder nor a bundle .tar.gz", remedy)
}

// unique drops paths that are given twice: each would be in conflict with itself.
func unique(paths []string) []string {
	var kept []string
	var infos []os.FileInfo
	for _, place := range paths {
		info, err := os.Stat(place)
		if err == nil && slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			continue
		}
		if err == nil {
			infos = append(infos, info)
		}
		kept = append(kept, place)
	}
	return kept
}

// add parses files.
func (p *Policy) add(files []file) Problems {
	var problems Problems
	for _, f := range files {
		switch {
		case f.leftOut != "":
			p.leftOut = append(p.leftOut, f)
		case f.rego():
			problems = append(problems, p.addModule(f)...)
		case f.data():
			d, found := parseDocument(f, f.at())
			if problems = append(problems, found...); d != nil {
				p.documents = append(p.documents, d)
			}
		default:
			p.strays = append(p.strays, f)
		}
	}
	return problems
}

// addManifest puts the manifest of a bundle where OPA has it: the library reads the revision.
func (p *Policy) addManifest(place string, manifest map[string]any) {
	if manifest == nil {
		return
	}
	bundles := child(child(p.data, "system"), "bundles")
	bundles[place] = map[string]any{"manifest": manifest}
}

func child(parent map[string]any, key string) map[string]any {
	if found, ok := parent[key].(map[string]any); ok {
		return found
	}
	made := map[string]any{}
	parent[key] = made
	return made
}

// hasLibrary tells whether there is the rule that makes the plan. One's own Rego may stand
// below its package too.
func (p *Policy) hasLibrary() bool {
	for _, module := range p.modules {
		isPlan := func(rule *ast.Rule) bool { return rule.Head.Name == "plan" }
		if module.Package.Path.Equal(libraryPackage) && slices.ContainsFunc(module.Rules, isPlan) {
			return true
		}
	}
	return false
}

// inLibrary finds Rego of one's own in a package of the library: it would change what rules
// and problems mean. Decision logs may be masked further.
func (p *Policy) inLibrary(own []file) Problems {
	var problems Problems
	packages := map[string]bool{}
	for name, module := range p.modules {
		if !slices.ContainsFunc(own, func(f file) bool { return f.name == name }) {
			packages[module.Package.Path.String()] = true
		}
	}
	for _, f := range own {
		stated := p.modules[f.name].Package
		name := strings.TrimPrefix(stated.Path.String(), "data.")
		if !f.test() && name != maskPackage && packages[stated.Path.String()] {
			problems = append(problems, Problem{Position: Position{File: f.name, Line: stated.Location.Row, Column: stated.Location.Col},
				Reason: "package " + name + " is the library's", Remedy: "name it otherwise, such as fieldveil.own"})
		}
	}
	return problems
}

// hasKey tells whether a file of data holds something of data.KEY.
func hasKey(d *document, key string) bool {
	if len(d.at) > 0 {
		return d.at[0] == key
	}
	top, _ := d.value.(map[string]any)
	_, found := top[key]
	return found
}
