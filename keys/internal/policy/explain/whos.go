package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxOfOneWho bounds the principals that are made of one `who`, which may list many
// values of many attributes.
const maxOfOneWho = 32

// anybody is a user that no rule names.
const anybody = "anybody-else"

// rulesets are data.rules, of which only `who` matters here.
type rulesets map[string]struct {
	Rules []struct {
		Who map[string]any `json:"who"`
	} `json:"rules"`
}

type catalogs map[string]struct {
	Databases []struct {
		Database string `json:"database"`
	} `json:"databases"`
	Services []struct {
		Service string `json:"service"`
	} `json:"services"`
}

// FromRules makes a principal of each combination of values that a `who` names, and one
// that no rule names, for every database. Of several policies, of them all together.
func FromRules(ctx context.Context, all []Policies, database string, asOf time.Time) ([]Sample, []string, error) {
	var places, samples []Sample
	cut := false
	for _, policies := range all {
		more, err := placesOf(ctx, policies, asOf)
		if err != nil {
			return nil, nil, err
		}
		places = append(places, more...)
		var sets rulesets
		if err := read(ctx, policies, "data.rules", asOf, &sets); err != nil {
			return nil, nil, err
		}
		for _, name := range sortedKeys(sets) {
			for _, rule := range sets[name].Rules {
				if rule.Who == nil {
					continue
				}
				made, whole := fromWho(rule.Who, asOf)
				samples = append(samples, made...)
				cut = cut || !whole
			}
		}
	}
	samples = distinct(append(samples, Sample{Name: "anybody else", User: anybody}))
	samples = InDatabases(samples, places, database)
	notes := []string{
		"The principals are made from the rules: one for each combination of values that a `who` names, and anybody else. " +
			"Limits (`unless`) hold for them unless that `who` names what lifts them; name your own in a file with --principals.",
	}
	if cut {
		notes = append(notes, fmt.Sprintf("A `who` names more than %d combinations: the rest is left out.", maxOfOneWho))
	}
	if len(samples) > MaxPrincipals {
		notes = append(notes, fmt.Sprintf("The rules name more than %d principals: the rest is left out.", MaxPrincipals))
		samples = append(samples[:MaxPrincipals-1:MaxPrincipals-1], samples[len(samples)-1])
	}
	return samples, notes, nil
}

// placesOf are the databases and services of the catalogs.
func placesOf(ctx context.Context, policies Policies, asOf time.Time) ([]Sample, error) {
	var found catalogs
	if err := read(ctx, policies, "data.catalog", asOf, &found); err != nil {
		return nil, err
	}
	var places []Sample
	for _, name := range sortedKeys(found) {
		for _, one := range found[name].Databases {
			places = append(places, Sample{Database: one.Database})
		}
		for _, one := range found[name].Services {
			places = append(places, Sample{Service: one.Service})
		}
	}
	return places, nil
}

// Databases are the databases and services of several policies, as samples without a name.
func Databases(ctx context.Context, all []Policies, asOf time.Time) ([]Sample, error) {
	var places []Sample
	for _, policies := range all {
		more, err := placesOf(ctx, policies, asOf)
		if err != nil {
			return nil, err
		}
		places = append(places, more...)
	}
	return places, nil
}

// InDatabases gives samples that name neither database nor service one of each place,
// and keeps those of the wanted one; all, where none is wanted.
func InDatabases(samples, places []Sample, wanted string) []Sample {
	slices.SortFunc(places, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Service, b.Service))
	})
	places = slices.CompactFunc(places, func(a, b Sample) bool { return a.Database == b.Database && a.Service == b.Service })
	places = slices.DeleteFunc(places, func(p Sample) bool { return wanted != "" && p.place() != wanted })
	var placed []Sample
	for _, sample := range samples {
		if sample.place() != "" {
			if wanted == "" || sample.place() == wanted {
				placed = append(placed, sample)
			}
			continue
		}
		for _, place := range places {
			if place.Service != "" && sample.logsIn() {
				continue // over HTTP nobody is a user of a database
			}
			one := sample
			one.Database, one.Service = place.Database, place.Service
			if len(places) > 1 {
				one.Name += " @ " + place.place()
			}
			placed = append(placed, one)
		}
	}
	return distinct(placed)
}

// logsIn says whether the sample is a certain user of a database.
func (s Sample) logsIn() bool { return s.User+s.Role != "" && s.User != anybody }

func read(ctx context.Context, policies Policies, query string, asOf time.Time, target any) error {
	value, defined, err := policies.Evaluate(ctx, query, map[string]any{}, asOf)
	if err != nil || !defined {
		return err
	}
	if err := into(value, target); err != nil {
		return fault.Input(query, "it does not have the shape of its schema", "see: fieldveil policy check")
	}
	return nil
}

// condition is an attribute of a `who` with its values.
type condition struct {
	path   []string
	values []any
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
		return found
	}
	return nil
}

// fromWho makes a sample of each combination of values; false where there are too many.
func fromWho(who map[string]any, asOf time.Time) ([]Sample, bool) {
	samples, whole := []Sample{{}}, true
	for _, condition := range conditions(nil, who) {
		var more []Sample
		for _, sample := range samples {
			for _, value := range condition.values {
				one := sample
				one.Claims = cloneClaims(sample.Claims)
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
	}
	name := strings.Join(path, ".")
	switch attribute, plain := attributes[name]; {
	case name == "session.source":
		s.Source = addressIn(text)
		return "from " + text
	case plain:
		*attribute = text
		short := path[len(path)-1]
		if short == "user" {
			return text
		}
		return short + " " + text
	case name == "time":
		var said string
		s.At, said = momentIn(value, asOf)
		return said
	case path[0] == "claims":
		if s.Claims == nil {
			s.Claims = map[string]any{}
		}
		setIn(s.Claims, path[1:], value)
		return strings.Join(path[1:], ".") + " " + text
	}
	return name + " " + text
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
