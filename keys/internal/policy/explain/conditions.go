package explain

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// condition is an attribute of a `who` with its values.
type condition struct {
	path   []string
	values []any
}

func (c condition) order() int {
	switch {
	case c.path[len(c.path)-1] == "user":
		return 0
	case slices.Contains(c.path, "session"):
		return 1
	}
	return 2
}

func conditions(path []string, node any) []condition {
	switch node := node.(type) {
	case []any:
		return []condition{{slices.Clone(path), node}}
	case map[string]any:
		var found []condition
		for _, key := range sortedKeys(node) {
			found = append(found, conditions(append(path, key), node[key])...)
		}
		// Whoever it is, the user comes first in its name.
		slices.SortStableFunc(found, func(a, b condition) int { return a.order() - b.order() })
		return found
	}
	return nil
}

// fitting makes of a sample one of each combination of values of a `who` or `unless`; false
// where there are too many.
func (s Sample) fitting(who map[string]any, asOf time.Time) ([]Sample, bool) {
	samples, whole := []Sample{s}, true
	for _, condition := range conditions(nil, who) {
		var more []Sample
		for _, sample := range samples {
			for _, value := range condition.values {
				one := sample
				one.Claims = cloneClaims(sample.Claims)
				one.Headers = maps.Clone(sample.Headers)
				one.WorkloadLabels = maps.Clone(sample.WorkloadLabels)
				one.Certificate = maps.Clone(sample.Certificate)
				one.Name = join(sample.Name, one.set(condition.path, value, asOf))
				more = append(more, one)
			}
		}
		if len(more) > maxOfOneWho {
			more, whole = more[:maxOfOneWho], false
		}
		samples = more
	}
	return samples, whole
}

// set gives the sample an attribute, and says it in a few words.
func (s *Sample) set(path []string, value any, asOf time.Time) string {
	text := claimText(value)
	attributes := map[string]*string{
		"listener": &s.Listener, "session.user": &s.User, "session.role": &s.Role, "session.database": &s.Database,
		"session.application_name": &s.ApplicationName, "session.purpose": &s.Purpose, "session.source": &s.Source,
		"workload.namespace": &s.Namespace, "workload.service_account": &s.ServiceAccount, "workload.spiffe_id": &s.SPIFFEID,
		"request.method": &s.Method, "request.route": &s.Route,
	}
	name := strings.Join(path, ".")
	switch attribute, plain := attributes[name]; {
	case name == "session.source":
		s.Source = addressIn(text)
		return "from " + text
	case plain:
		*attribute = text
		if name == "session.database" {
			s.Service = "" // which of both it is, the catalogs know
		}
		short := path[len(path)-1]
		if short == "user" {
			return text
		}
		return short + " " + text
	case name == "time":
		var said string
		s.At, said = momentIn(value, asOf)
		return said
	case path[0] == "headers":
		s.Headers = with(s.Headers, path[1], text)
		return path[1] + " " + text
	case path[0] == "workload" && len(path) == 3:
		s.WorkloadLabels = with(s.WorkloadLabels, path[2], text)
		return path[2] + " " + text
	case path[0] == "client_certificate":
		if s.Certificate == nil {
			s.Certificate = map[string][]string{}
		}
		s.Certificate[path[1]] = []string{text}
		return "certificate " + text
	case path[0] == "claims":
		if s.Claims == nil {
			s.Claims = map[string]any{}
		}
		setIn(s.Claims, path[1:], value)
		return strings.Join(path[1:], ".") + " " + text
	}
	return name + " " + text
}

// with sets what may have to be made first.
func with(texts map[string]string, name, text string) map[string]string {
	if texts == nil {
		texts = map[string]string{}
	}
	texts[name] = text
	return texts
}

func setIn(claims map[string]any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		inner, nested := claims[path[0]].(map[string]any)
		if !nested {
			inner = map[string]any{}
			claims[path[0]] = inner
		}
		claims = inner
	}
	claims[path[0]] = value
}

func cloneClaims(claims map[string]any) map[string]any {
	if claims == nil {
		return nil
	}
	text, err := json.Marshal(claims)
	var cloned map[string]any
	if err != nil || json.Unmarshal(text, &cloned) != nil {
		return nil
	}
	return cloned
}

// addressIn is an address of a network: the first that hosts have.
func addressIn(network string) string {
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return network
	}
	address := prefix.Masked().Addr()
	if !prefix.IsSingleIP() && prefix.Contains(address.Next()) {
		address = address.Next()
	}
	return address.String()
}
