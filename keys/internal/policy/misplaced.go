package policy

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is a sort of data that the library reads, by the folder that holds it:
// FOLDER/NAME/data.yaml is data.FOLDER.NAME.
type kind struct {
	folder, one string
	looksSo     func(root *yaml.Node) bool
}

var kinds = []kind{
	{"catalog", "a catalog", func(root *yaml.Node) bool {
		return isList(root, "databases") || isList(root, "services") || hasEntryWith(root, "labels", "protection")
	}},
	{"rules", "a set of rules", func(root *yaml.Node) bool { return isList(root, "rules") }},
	{"tokens", "an issuer of tokens", func(root *yaml.Node) bool {
		return has(root, "issuer") && (has(root, "jwks") || has(root, "jwks_url"))
	}},
}

// misplaced finds catalogs, rules and tokens that lie where the library looks for
// none: they would protect nothing, and nobody would notice.
func (p *Policy) misplaced() Problems {
	var problems Problems
	for _, d := range p.documents {
		if hasKey(d, "fieldveil") {
			problems = append(problems, Problem{Position: d.position(d.root), Path: pathOf(d.at),
				Reason: "data below fieldveil: the library has none, and nothing looks at it", Remedy: "write it into the Rego that reads it, or serve it to OPA in a bundle of its own"})
			continue
		}
		for _, k := range kinds {
			if k.looksSo(d.root) && (len(d.at) != 2 || d.at[0] != k.folder) {
				name := "NAME"
				if len(d.at) > 0 && d.at[len(d.at)-1] != k.folder {
					name = d.at[len(d.at)-1]
				}
				problems = append(problems, Problem{Position: d.position(d.root), Path: pathOf(d.at),
					Reason: "this is " + k.one + ", which is read from " + k.folder + "/NAME/data.yaml alone",
					Remedy: "move it to " + k.folder + "/" + name + "/data.yaml, or name as PATH the folder that holds " + k.folder + "/"})
			}
		}
	}
	for _, f := range p.strays {
		problems = append(problems, stray(f)...)
	}
	return problems
}

// stray judges YAML and JSON that is called neither data.yaml nor data.json.
func stray(f file) Problems {
	top, _, _ := strings.Cut(f.slashed, "/")
	stem := strings.TrimSuffix(path.Base(f.slashed), path.Ext(f.slashed))
	d, problems := parseDocument(f, nil)
	for _, k := range kinds {
		within := top == k.folder || stem == k.folder
		if within && len(problems) > 0 {
			return problems
		}
		if !within && (d == nil || !k.looksSo(d.root)) {
			continue
		}
		name := stem
		if folder := path.Base(path.Dir(f.slashed)); strings.EqualFold(stem, "data") && folder != "." {
			name = folder
		}
		if name == k.folder {
			name = "NAME"
		}
		return Problems{{Position: Position{File: f.name},
			Reason: "this is read as no data: in a bundle OPA reads data.yaml and data.json alone", Remedy: "move it to " + k.folder + "/" + name + "/data.yaml"}}
	}
	return nil
}

func has(node *yaml.Node, key string) bool {
	child, _ := childOf(node, key)
	return child != nil
}

func isList(node *yaml.Node, key string) bool {
	child, _ := childOf(node, key)
	return child != nil && child.Kind == yaml.SequenceNode
}

// hasEntryWith tells whether node[key] is a mapping with a mapping in it that has the inner key.
func hasEntryWith(node *yaml.Node, key, inner string) bool {
	child, _ := childOf(node, key)
	if child == nil || child.Kind != yaml.MappingNode {
		return false
	}
	for i := 1; i < len(child.Content); i += 2 {
		if has(child.Content[i], inner) {
			return true
		}
	}
	return false
}
