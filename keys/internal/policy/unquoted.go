package policy

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// starComplaint is what the reader of YAML says of a word that begins with *: it
// takes it for the name of another value, with a line (but the first) where it is no name at all.
var starComplaint = regexp.MustCompile(`^yaml: (?:(?:line (\d+): )?did not find expected alphabetic or numeric character|unknown anchor '(.*)' referenced)$`)

// star is a word that begins with *, outside of quotes where a line has none
// before it.
var star = regexp.MustCompile(`^((?:[^"'#]|"[^"]*"|'[^']*')*?[\[{,:\s-])?(\*[^\s,\]}#"']*)`)

// unquoted finds the word with * that should stand in quotes, which patterns of
// labels are forgotten to.
func unquoted(f file, complaint string) (Problem, bool) {
	said := starComplaint.FindStringSubmatch(complaint)
	if said == nil {
		return Problem{}, false
	}
	if said[1] == "" && said[2] == "" {
		said[1] = "1"
	}
	for i, line := range strings.Split(string(f.content), "\n") {
		if said[1] != "" && said[1] != strconv.Itoa(i+1) {
			continue
		}
		for at := 0; ; {
			found := star.FindStringSubmatchIndex(line[at:])
			if found == nil {
				break
			}
			word := line[at+found[4] : at+found[5]]
			if said[2] == "" || word == "*"+said[2] {
				column := 1 + len([]rune(line[:at+found[4]]))
				return Problem{Position: Position{f.name, i + 1, column}, Reason: "not YAML: " + word + " begins with *, which means another thing there",
					Remedy: "quote it: \"" + word + "\""}, true
			}
			at += found[5]
		}
	}
	return Problem{}, false
}

// cutInTwo is a problem for each mask that a comma ended: within braces and
// brackets a word with one stands in quotes.
func (d *document) cutInTwo() Problems {
	var problems Problems
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		if node.Kind == yaml.ScalarNode && node.Style == 0 && cut.MatchString(node.Value) {
			problems = append(problems, Problem{Position: d.position(node), Path: pathOf(d.at),
				Reason: node.Value + " ends at the comma, within braces", Remedy: "quote the whole of it: 'partial(0,\"****\",4)'"})
		}
		for _, child := range node.Content { // an alias has none: what it names is visited where it stands
			visit(child)
		}
	}
	visit(d.root)
	return problems
}

var cut = regexp.MustCompile(`^partial\([^)]*$`)
