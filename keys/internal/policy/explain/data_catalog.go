package explain

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// What the library takes where nothing is said.
const (
	defaultTTL      = 30
	defaultMaxStale = 300
)

func (c *comparison) tokens(old, new map[string]any) {
	for _, name := range keysOfBoth(old, new) {
		place := "tokens " + name
		switch before, after := old[name], new[name]; {
		case before == nil:
			c.add(Widened, place, "", issuerShown(after))
		case after == nil:
			c.add(Narrowed, place, issuerShown(before), "")
		default:
			c.compare(place, nil, before, after, tokenVerdict)
		}
	}
}

func issuerShown(issuer any) string {
	mapping, _ := issuer.(map[string]any)
	return "issuer " + shown(mapping["issuer"])
}

// tokenVerdict calls wider what lets more tokens pass.
func tokenVerdict(path []string, old, new any) Verdict {
	switch path[len(path)-1] {
	case "leeway_seconds":
		return compareNumbers(old, new, 0)
	case "algorithms", "keys":
		return compareLists(old, new)
	}
	return Changed
}

// acceptVerdict: a token that is not accepted where it stands is refused; a purpose is not seen, which may lift what it limits.
func acceptVerdict(path []string, old, new any) Verdict {
	if path[len(path)-1] == "token" {
		return compareLists(old, new)
	}
	return Changed
}

// keyShown names a public key: by its kid, and by what is in it, for two may have one kid.
func keyShown(key map[string]any) string {
	sum := sha256.Sum256([]byte(text(key)))
	named := "key " + hex.EncodeToString(sum[:4])
	if kid := shown(key["kid"]); kid != "" {
		named += " (kid " + kid + ")"
	}
	return named
}

// labels compares what reports do not: the mask, and how a tenant is named. What they
// compare is left out, and distinct_values, which is for the check alone.
func (c *comparison) labels(old, new map[string]map[string]any) {
	for _, name := range keysOfBoth(old, new) {
		before, after := old[name], new[name]
		if before == nil || after == nil {
			continue // where it lies is what counts
		}
		from := len(c.found)
		c.compare("label "+name, []string{"mask"}, before["mask"], after["mask"], alwaysChanged)
		wasChosen, _ := before["tenant"].(map[string]any)
		isChosen, _ := after["tenant"].(map[string]any)
		if wasChosen != nil && isChosen != nil {
			c.compare("label "+name, []string{"tenant", "names"}, wasChosen["names"], isChosen["names"], alwaysChanged)
		}
		for i := range c.found[from:] {
			c.found[from+i].labels = []string{name}
		}
	}
}

// places compares databases and services: their settings, and what stands in those that no sample asks for.
func (c *comparison) places(old, new *policyData, samples []Sample, wanted string) {
	before, after := old.places(), new.places()
	for _, name := range keysOfBoth(before, after) {
		if wanted != "" && wanted != name {
			continue
		}
		was, is := before[name], after[name]
		if !slices.ContainsFunc(samples, func(s Sample) bool { return s.place() == name }) && text(was.content) != text(is.content) {
			c.add(Changed, "places of "+name, "", "differ, and no principal asks for them")
		}
		if was.known && is.known {
			for _, setting := range []struct {
				name   string
				unless float64
			}{{"ttl_seconds", defaultTTL}, {"max_stale_seconds", defaultMaxStale}} {
				c.compare("database "+name, []string{setting.name}, was.settings[setting.name], is.settings[setting.name],
					func(_ []string, old, new any) Verdict { return compareNumbers(old, new, setting.unless) })
			}
		}
	}
}

// database is what all catalogs say of a database or service.
type database struct {
	known    bool
	content  []any
	settings map[string]any
}

// defined is places with what is said of their labels.
func (s *policyData) defined(places any) any {
	switch places := places.(type) {
	case map[string]any:
		made := map[string]any{}
		for name, inner := range places {
			made[name] = s.defined(inner)
		}
		return made
	case string:
		return []any{places, s.labels[places]}
	}
	return places
}

func (s *policyData) places() map[string]database {
	found := map[string]database{}
	for _, catalog := range sortedKeys(s.catalogs) {
		for _, one := range slices.Concat(s.catalogs[catalog].Databases, s.catalogs[catalog].Services) {
			name, _ := one["database"].(string)
			if service, is := one["service"].(string); is {
				name = service
			}
			place := found[name]
			place.known = true
			place.content = append(place.content, s.defined(one["columns"]), s.defined(one["paths"]), s.defined(one["routes"]), one["unmatched"])
			if place.settings == nil {
				place.settings = map[string]any{}
			}
			for _, setting := range []string{"ttl_seconds", "max_stale_seconds"} {
				// The library takes the least.
				said, is := one[setting].(float64)
				least, had := place.settings[setting].(float64)
				if is && (!had || said < least) {
					place.settings[setting] = said
				}
			}
			found[name] = place
		}
	}
	return found
}
