package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// numberError is a number of JSON that OPA can not work with: it ends the program that reads it.
type numberError struct{ offset int64 }

func (*numberError) Error() string { return "a number that is too great or too small" }

// isFloat tells whether a number of JSON is one that IEEE 754 has, roughly.
func isFloat(number string) bool {
	value, err := strconv.ParseFloat(number, 64)
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return err == nil && (value != 0 || !strings.ContainsAny(digits, "123456789"))
}

// otherKeys is a problem for each key of YAML that OPA reads as another text: 012 becomes
// 10 and 1e3 becomes 1000, so that another column would be meant.
func (d *document) otherKeys() Problems {
	var problems Problems
	visited := map[*yaml.Node]bool{} // an alias means what its anchor does
	var visit func(node *yaml.Node, value any, path Path)
	visit = func(node *yaml.Node, value any, path Path) {
		if visited[node] {
			return
		}
		visited[node] = true
		switch value := value.(type) {
		case []any:
			for i := range min(len(value), len(node.Content)) {
				visit(node.Content[i], value[i], append(slices.Clone(path), i))
			}
		case map[string]any:
			for i := 0; i+1 < len(node.Content); i += 2 {
				key := node.Content[i]
				if key.Tag == "!!merge" {
					for _, merged := range append(slices.Clone(node.Content[i+1].Content), node.Content[i+1]) {
						if merged.Kind == yaml.MappingNode {
							visit(merged, value, path)
						}
					}
					continue
				}
				inner, read := value[key.Value]
				if key.Kind == yaml.ScalarNode && !read {
					problems = append(problems, Problem{Position: d.position(key), Path: append(slices.Clone(path), key.Value),
						Reason: "OPA reads this key as another one, for in YAML it is no text", Remedy: fmt.Sprintf("put it in quotes: %q", key.Value)})
				}
				visit(node.Content[i+1], inner, append(slices.Clone(path), key.Value))
			}
		}
	}
	visit(d.root, d.value, pathOf(d.at))
	return problems
}
