package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"
)

// document is a file of data: its value as OPA reads it, and where each part of it
// stands.
type document struct {
	file  string
	at    []string // where its value lies below data
	value any
	root  *yaml.Node
}

func parseDocument(f file, at []string) (*document, Problems) {
	root, problems := parseTree(f)
	if len(problems) > 0 {
		return nil, problems
	}
	if root == nil {
		return nil, Problems{{Position: Position{File: f.name}, Path: pathOf(at), Reason: "it holds no data", Remedy: "write keys and values, or take the file away"}}
	}
	d := &document{file: f.name, at: at, root: root}
	if problems := d.duplicates(); len(problems) > 0 {
		return nil, problems
	}
	if problems := d.cutInTwo(); !f.json() && len(problems) > 0 {
		return nil, problems
	}
	unmarshal := util.Unmarshal
	if f.json() {
		unmarshal = util.UnmarshalJSON
	}
	if err := unmarshal(f.content, &d.value); err != nil {
		return nil, Problems{{Position: Position{File: f.name}, Path: pathOf(at), Reason: "OPA can not read it (" + err.Error() + ")", Remedy: "write it as plain YAML or JSON"}}
	}
	if _, mapping := d.value.(map[string]any); !mapping {
		return nil, Problems{{Position: d.position(root), Path: pathOf(at), Reason: "not a mapping of keys to values", Remedy: "write keys and values, as the examples have them"}}
	}
	if problems := d.otherKeys(); len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

func parseTree(f file) (*yaml.Node, Problems) {
	if f.json() {
		return parseJSON(f)
	}
	return parseYAML(f)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// The reader of YAML counts lines from 0 where its parser complains, from 1 where
// its scanner does.
var parserComplaint = regexp.MustCompile(`^did not find expected (node content|key|'-' indicator|',' or|<)`)

func parseYAML(f file) (*yaml.Node, Problems) {
	decoder := yaml.NewDecoder(bytes.NewReader(f.content))
	var first *yaml.Node
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			where := Position{File: f.name}
			reason := err.Error()
			if problem, found := unquoted(f, reason); found {
				return nil, Problems{problem}
			}
			if found := yamlLine.FindStringSubmatch(reason); found != nil {
				reason = found[2]
				where.Line, _ = strconv.Atoi(found[1])
				if parserComplaint.MatchString(reason) {
					where.Line++
				}
				where.Column = min(where.Line, 1)
			}
			return nil, Problems{{Position: where, Reason: "not YAML: " + reason, Remedy: "mend the YAML here, or a line above or below"}}
		case first != nil:
			return nil, Problems{{Position: Position{f.name, node.Line, node.Column},
				Reason: "a second document begins here, and OPA reads the first alone", Remedy: "put it into a file of its own, or take the line --- away"}}
		}
		first = node.Content[0]
	}
}

// parseJSON gives the nodes that YAML of the same meaning would.
func parseJSON(f file) (*yaml.Node, Problems) {
	reader := jsonReader{Decoder: json.NewDecoder(bytes.NewReader(f.content)), content: f.content}
	var whole json.RawMessage
	err := json.Unmarshal(f.content, &whole)
	if err == nil {
		reader.UseNumber()
		var node *yaml.Node
		if node, err = reader.node(); err == nil {
			return node, nil
		}
	}
	var syntax *json.SyntaxError
	var number *numberError
	where := Position{File: f.name}
	if errors.As(err, &number) {
		where.Line, where.Column = reader.position(number.offset)
		return nil, Problems{{Position: where, Reason: number.Error(), Remedy: "write one of at most 308 digits"}}
	}
	if errors.As(err, &syntax) {
		where.Line, where.Column = reader.position(max(syntax.Offset-1, 0)) // that many bytes are read
	}
	return nil, Problems{{Position: where, Reason: "not JSON: " + err.Error(), Remedy: "mend the JSON here or just before"}}
}

type jsonReader struct {
	*json.Decoder
	content []byte
}

func (r *jsonReader) node() (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	at := r.next()
	node.Line, node.Column = r.position(at)
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	if number, is := token.(json.Number); is && !isFloat(string(number)) {
		return nil, &numberError{at}
	}
	delim, nested := token.(json.Delim)
	if !nested {
		node.Value = fmt.Sprint(token)
		return node, nil
	}
	node.Kind = yaml.SequenceNode
	if delim == '{' {
		node.Kind = yaml.MappingNode
	}
	for r.More() {
		child, err := r.node() // of a mapping: a key or its value, in turn
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	_, err = r.Token()
	return node, err
}

// next is where the token that comes next begins.
func (r *jsonReader) next() int64 {
	offset := r.InputOffset()
	for int(offset) < len(r.content) && bytes.IndexByte([]byte(" \t\r\n,:"), r.content[offset]) >= 0 {
		offset++
	}
	return offset
}

func (r *jsonReader) position(offset int64) (line, column int) {
	before := r.content[:min(int(offset), len(r.content))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// duplicates is a problem for each key that a mapping has twice: OPA would take
// the last and say nothing.
func (d *document) duplicates() Problems {
	var problems Problems
	visited := map[*yaml.Node]bool{}
	var visit func(node *yaml.Node, path Path)
	visit = func(node *yaml.Node, path Path) {
		if node == nil || visited[node] {
			return
		}
		visited[node] = true
		switch node.Kind {
		case yaml.AliasNode:
			visit(node.Alias, path)
		case yaml.SequenceNode:
			for i, element := range node.Content {
				visit(element, append(path[:len(path):len(path)], i))
			}
		case yaml.MappingNode:
			first := map[string]*yaml.Node{}
			for i := 0; i+1 < len(node.Content); i += 2 {
				key := node.Content[i]
				at := append(path[:len(path):len(path)], key.Value)
				if earlier := first[key.Value]; earlier != nil {
					problems = append(problems, Problem{Position: d.position(key), Path: at,
						Reason: "the key stands here a second time; the first is at " + d.position(earlier).String(), Remedy: "take one of them away"})
				} else {
					first[key.Value] = key
				}
				visit(node.Content[i+1], at)
			}
		}
	}
	visit(d.root, pathOf(d.at))
	return problems
}

func (d *document) position(node *yaml.Node) Position {
	return Position{File: d.file, Line: node.Line, Column: node.Column}
}

// find is where the value of a path stands, or its nearest ancestor in this file,
// and how many steps of the path lead there. Of a mapping's entry it is the key.
func (d *document) find(path Path) (Position, int) {
	for i, key := range d.at {
		if i >= len(path) || path[i] != any(key) {
			return Position{}, -1
		}
	}
	node, where, depth := d.root, d.position(d.root), len(d.at)
	for _, step := range path[depth:] {
		child, at := childOf(node, step)
		if child == nil {
			break
		}
		node, where = child, d.position(at)
		depth++
	}
	return where, depth
}

func childOf(node *yaml.Node, step any) (child, at *yaml.Node) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step >= 0 && step < len(node.Content) {
			return node.Content[step], node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1], node.Content[i]
			}
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Tag == "!!merge" {
				if child, at := merged(node.Content[i+1], step); child != nil {
					return child, at
				}
			}
		}
	}
	return nil, nil
}

// merged looks for a key in what `<<` names: a mapping or a list of them.
func merged(node *yaml.Node, key string) (child, at *yaml.Node) {
	if node.Kind != yaml.SequenceNode {
		return childOf(node, key)
	}
	for _, element := range node.Content {
		if child, at := childOf(element, key); child != nil {
			return child, at
		}
	}
	return nil, nil
}
