package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

const (
	// maxPrincipalsBytes bounds a file of principals: each is a few lines.
	maxPrincipalsBytes = 1 << 20
	// MaxPrincipals bounds the width of a report that a person can read.
	MaxPrincipals = 200
	// maxNameLength bounds a name, which heads a column.
	maxNameLength = 80
)

const principalsRemedy = "see docs/guides/policy-explain.md for what a file of principals holds"

// ReadPrincipals reads a file of sample principals. Whatever is not known in it is an
// error, which names the line: a principal that is not the one meant would show the
// access of somebody else.
func ReadPrincipals(path string) ([]Sample, error) {
	text, err := regularfile.Read(path, maxPrincipalsBytes)
	if err != nil {
		return nil, fault.Input(path, fault.Cause(err), "name a file of principals of at most 1 MiB")
	}
	reader := principalsReader{path: path}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fault.Input(path, "it is not YAML: "+strings.TrimPrefix(err.Error(), "yaml: "), principalsRemedy)
	}
	if len(document.Content) == 0 {
		return nil, fault.Input(path, "it is empty", principalsRemedy)
	}
	return reader.list(document.Content[0])
}

type principalsReader struct{ path string }

func (r principalsReader) fail(node *yaml.Node, reason, remedy string) error {
	return fault.Input(fmt.Sprintf("%s:%d", r.path, node.Line), reason, remedy)
}

func (r principalsReader) list(node *yaml.Node) ([]Sample, error) {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return nil, r.fail(node, "it is not a list of principals", "begin each with `- name: …`")
	}
	if len(node.Content) > MaxPrincipals {
		return nil, r.fail(node.Content[MaxPrincipals], fmt.Sprintf("there are more than %d principals", MaxPrincipals),
			"divide them into several files")
	}
	lines := map[string]int{}
	var samples []Sample
	for _, item := range node.Content {
		sample, err := r.principal(item)
		if err != nil {
			return nil, err
		}
		if line, twice := lines[sample.Name]; twice {
			return nil, r.fail(item, fmt.Sprintf("name: %q is the name of the one in line %d too", sample.Name, line),
				"give each a name of its own")
		}
		lines[sample.Name] = item.Line
		samples = append(samples, sample)
	}
	return samples, nil
}

func (r principalsReader) principal(node *yaml.Node) (Sample, error) {
	var sample Sample
	err := r.members(node, "a principal", map[string]reading{
		"name":               r.text(&sample.Name),
		"database":           r.text(&sample.Database),
		"service":            r.text(&sample.Service),
		"listener":           r.text(&sample.Listener),
		"user":               r.text(&sample.User),
		"role":               r.text(&sample.Role),
		"application_name":   r.text(&sample.ApplicationName),
		"purpose":            r.text(&sample.Purpose),
		"source":             r.text(&sample.Source),
		"method":             r.text(&sample.Method),
		"route":              r.text(&sample.Route),
		"headers":            r.headers(&sample.Headers),
		"claims":             r.claims(&sample.Claims),
		"at":                 r.moment(&sample.At),
		"client_certificate": r.certificate(&sample.Certificate),
		"workload": func(key, value *yaml.Node) error {
			return r.members(value, "a workload", map[string]reading{
				"namespace":       r.text(&sample.Namespace),
				"service_account": r.text(&sample.ServiceAccount),
				"spiffe_id":       r.text(&sample.SPIFFEID),
				"labels":          r.texts(&sample.WorkloadLabels, "a mapping of labels"),
			})
		},
	})
	switch {
	case err != nil:
		return Sample{}, err
	case sample.Name == "":
		return Sample{}, r.fail(node, "name is missing", "say who it is: `name: support at night`")
	case len([]rune(sample.Name)) > maxNameLength:
		return Sample{}, r.fail(node, fmt.Sprintf("name: it is longer than %d characters", maxNameLength), "shorten it")
	case sample.Database != "" && sample.Service != "":
		return Sample{}, r.fail(node, "database and service are both given", "leave one out: a principal asks for one")
	case sample.Database != "" && sample.asksHTTP():
		return Sample{}, r.fail(node, "a database knows no headers, methods and routes", "leave them out, or name a service")
	}
	return sample, nil
}

// reading takes one member of a mapping.
type reading func(key, value *yaml.Node) error

// members reads a mapping of which every key is known and stands once.
func (r principalsReader) members(node *yaml.Node, what string, known map[string]reading) error {
	if node.Kind != yaml.MappingNode {
		return r.fail(node, "it is not "+what, "write its attributes as `name: value`")
	}
	seen := map[string]bool{}
	for at := 0; at+1 < len(node.Content); at += 2 {
		key, value := node.Content[at], node.Content[at+1]
		read, found := known[key.Value]
		if !found {
			return r.fail(key, fmt.Sprintf("%s has no %q", what, key.Value), "use one of "+strings.Join(sortedKeys(known), ", "))
		}
		if seen[key.Value] {
			return r.fail(key, key.Value+" stands there twice", "leave one out")
		}
		seen[key.Value] = true
		if err := read(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (r principalsReader) text(into *string) reading {
	return func(key, value *yaml.Node) error {
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
			return r.fail(value, key.Value+": it is not a text", "put it in double quotes")
		}
		if value.Value == "" || value.Value != fault.OneLine(value.Value) {
			return r.fail(value, key.Value+": it is empty or has control characters", "leave it out, or write it plainly")
		}
		*into = value.Value
		return nil
	}
}

func (r principalsReader) certificate(into *map[string][]string) reading {
	return func(_, value *yaml.Node) error {
		*into = map[string][]string{}
		return r.members(value, "a certificate", map[string]reading{
			"subject": func(key, value *yaml.Node) error {
				var subject string
				err := r.text(&subject)(key, value)
				(*into)["subject"] = []string{subject}
				return err
			},
			"dns": r.names(*into), "uri": r.names(*into), "email": r.names(*into),
		})
	}
}

// names reads a list of a certificate's names.
func (r principalsReader) names(into map[string][]string) reading {
	return func(key, value *yaml.Node) error {
		if value.Kind != yaml.SequenceNode {
			return r.fail(value, key.Value+": it is not a list", "write it as `[name]`")
		}
		for _, item := range value.Content {
			var name string
			if err := r.text(&name)(key, item); err != nil {
				return err
			}
			into[key.Value] = append(into[key.Value], name)
		}
		return nil
	}
}

func (r principalsReader) moment(into *time.Time) reading {
	return func(key, value *yaml.Node) error {
		at, err := time.Parse(time.RFC3339, value.Value)
		if value.Kind != yaml.ScalarNode || err != nil {
			return r.fail(value, key.Value+": it is not a date and time of RFC 3339", "write it so: 2026-03-02T22:30:00+01:00")
		}
		*into = at
		return nil
	}
}

func (r principalsReader) headers(into *map[string]string) reading {
	return func(key, value *yaml.Node) error {
		if value.Kind == yaml.MappingNode {
			for at := 0; at < len(value.Content); at += 2 {
				if name := value.Content[at].Value; name != strings.ToLower(name) {
					return r.fail(value.Content[at], "headers: "+name+" is not in lower case", "write it as rules have it: x-team")
				}
			}
		}
		return r.texts(into, "a mapping of headers")(key, value)
	}
}

// texts reads a mapping of texts, whatever their names.
func (r principalsReader) texts(into *map[string]string, what string) reading {
	return func(_, value *yaml.Node) error {
		*into = map[string]string{}
		known := map[string]reading{}
		if value.Kind == yaml.MappingNode {
			for at := 0; at < len(value.Content); at += 2 {
				name := value.Content[at].Value
				known[name] = func(key, value *yaml.Node) error {
					var text string
					err := r.text(&text)(key, value)
					(*into)[name] = text
					return err
				}
			}
		}
		return r.members(value, what, known)
	}
}

func (r principalsReader) claims(into *map[string]any) reading {
	return func(key, value *yaml.Node) error {
		if value.Kind != yaml.MappingNode {
			return r.fail(value, "claims: they are not a mapping", "write them as `name: value`")
		}
		read, err := r.plain(value)
		if err != nil {
			return err
		}
		*into = read.(map[string]any)
		return nil
	}
}

// plain is a value as JSON has it. A date stays the text that it is.
func (r principalsReader) plain(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		members := map[string]any{}
		for at := 0; at+1 < len(node.Content); at += 2 {
			key := node.Content[at]
			if _, twice := members[key.Value]; twice {
				return nil, r.fail(key, key.Value+" stands there twice", "leave one out")
			}
			value, err := r.plain(node.Content[at+1])
			if err != nil {
				return nil, err
			}
			members[key.Value] = value
		}
		return members, nil
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range node.Content {
			value, err := r.plain(item)
			if err != nil {
				return nil, err
			}
			items = append(items, value)
		}
		return items, nil
	case yaml.ScalarNode:
		var value any = node.Value
		if slices.Contains([]string{"!!int", "!!float", "!!bool", "!!null"}, node.ShortTag()) {
			if err := node.Decode(&value); err != nil {
				return nil, r.fail(node, "claims: a value can not be read", "write it as JSON has it")
			}
		}
		return value, nil
	}
	return nil, r.fail(node, "claims: an alias stands there", "write the value itself")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
