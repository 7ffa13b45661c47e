package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxOfOneWho bounds the principals that are made of one `who`, which may list many
// values of many attributes.
const maxOfOneWho = 32

// anybody is a user that no rule names.
const anybody = "anybody-else"

// rulesets are data.rules, of which only this matters here.
type rulesets map[string]struct {
	Rules []struct {
		Name   string         `json:"name"`
		Who    map[string]any `json:"who"`
		Unless map[string]any `json:"unless"`
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

// FromRules makes a principal of each combination of values that a rule names as who, and one
// that no rule names, for every database. One that a limit decides of stands there a
// second time as one whom the limit excepts. Of several policies, of them all together.
func FromRules(ctx context.Context, all []Policies, database string, asOf time.Time) ([]Sample, []string, error) {
	var samples []Sample
	cut := false
	limits := map[string][]map[string]any{}
	for _, policies := range all {
		var sets rulesets
		if err := read(ctx, policies, "data.rules", asOf, &sets); err != nil {
			return nil, nil, err
		}
		for _, name := range sortedKeys(sets) {
			for _, rule := range sets[name].Rules {
				if rule.Unless != nil {
					limits[rule.Name] = append(limits[rule.Name], rule.Unless)
				}
				if rule.Who == nil {
					continue
				}
				made, whole := Sample{}.fitting(rule.Who, asOf)
				samples = append(samples, made...)
				cut = cut || !whole
			}
		}
	}
	samples = distinct(append(samples, Sample{Name: "anybody else", User: anybody}))
	places, err := Databases(ctx, all, asOf)
	if err != nil {
		return nil, nil, err
	}
	samples = InDatabases(resolvePlaces(samples, places), slices.Clone(places), database)
	notes := []string{
		"The principals are made from the rules: one for each combination of values that a rule names as who, and anybody else. " +
			"One that a limit (unless) decides of stands there again as one whom it excepts. Name your own in a file with --principals.",
	}
	samples, made, err := withTenants(ctx, all, samples, asOf)
	if err != nil {
		return nil, nil, err
	}
	if made {
		notes = append(notes, "Where the principal chooses the tenant, one is made up.")
	}
	samples, whole := withExcepted(ctx, all, samples, places, limits, asOf)
	cut = cut || !whole
	if cut {
		notes = append(notes, fmt.Sprintf("A rule names more than %d combinations: the rest is left out.", maxOfOneWho))
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
		// Over HTTP nobody is a user of a database, and there alone are headers and kinds of requests.
		fitting := slices.DeleteFunc(slices.Clone(places), func(p Sample) bool {
			if sample.asksHTTP() {
				return p.Service == ""
			}
			return p.Service != "" && sample.logsIn()
		})
		for _, place := range fitting {
			one := sample
			one.Database, one.Service = place.Database, place.Service
			if len(fitting) > 1 {
				one.Name += " @ " + place.place()
			}
			placed = append(placed, one)
		}
	}
	return distinct(placed)
}

// resolvePlaces gives samples of rules that name a place, which they all call a database, the place of this name: a
// database, a service, or one of each.
func resolvePlaces(samples, places []Sample) []Sample {
	var found []Sample
	for _, sample := range samples {
		known := false
		for _, place := range places {
			if sample.Service != "" || sample.Database == "" || place.place() != sample.Database {
				continue
			}
			one := sample
			one.Database, one.Service = place.Database, place.Service
			found, known = append(found, one), true
		}
		if !known {
			found = append(found, sample)
		}
	}
	return distinct(found)
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
