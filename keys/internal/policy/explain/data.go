package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DataChange is something that the policies say differently, and that the samples need not show:
// what is old and not new, and what is new and not old.
type DataChange struct {
	Verdict Verdict  `json:"verdict"`
	Place   string   `json:"place"` // "tokens idp: leeway_seconds", "rule NAME: who.session.user"
	Old     string   `json:"old"`
	New     string   `json:"new"`
	labels  []string // of which it speaks; nil: of whatever there is
	rule    string   // whose name samples show where it decides; empty: none
}

// WithCode is what policies say beside data: the text of each file of Rego, by its name.
type WithCode interface{ Code() map[string]string }

// policyData is the data that decides, as the library reads it.
type policyData struct {
	catalogs map[string]catalog
	rules    []rule
	accepted map[string]any
	tokens   map[string]any
	code     map[string]string
	labels   map[string]map[string]any
}

type catalog struct {
	Labels    map[string]map[string]any `json:"labels"`
	Databases []map[string]any          `json:"databases"`
	Services  []map[string]any          `json:"services"`
}

// CompareData compares what the policies say, for samples are not everybody. What is not known to
// give less, or the same, is changed. Parts that Compare judges by reports are left to it.
func (d *Diff) CompareData(ctx context.Context, old, new Policies, samples []Sample, wanted string, asOf time.Time) error {
	before, err := readPolicyData(ctx, old, asOf)
	if err != nil {
		return err
	}
	after, err := readPolicyData(ctx, new, asOf)
	if err != nil {
		return err
	}
	c := comparison{fresh: d.fresh(before, after)}
	c.tokens(before.tokens, after.tokens)
	c.compare("rules: accept", nil, before.accepted, after.accepted, acceptVerdict)
	c.rules(before, after)
	c.labels(before.labels, after.labels)
	c.places(before, after, samples, wanted)
	c.code(before.code, after.code)
	d.Data = slices.DeleteFunc(append(d.Data, c.found...), func(one DataChange) bool { return one.Verdict == Same || d.shows(one) })
	slices.SortStableFunc(d.Data, func(a, b DataChange) int {
		return cmp.Or(a.Verdict.gravity()-b.Verdict.gravity(), cmp.Compare(a.Place, b.Place))
	})
	d.count()
	return nil
}

// shows tells whether a change that a sample shows is of the same rule and as grave: then
// what the rule says stands there already.
func (d *Diff) shows(one DataChange) bool {
	return one.rule != "" && slices.ContainsFunc(d.Changes, func(c Change) bool {
		by := slices.Concat(c.Old.ReadBy, c.Old.WriteBy, c.New.ReadBy, c.New.WriteBy)
		return slices.Contains(by, one.rule) && c.Verdict.gravity() <= one.Verdict.gravity()
	})
}

func readPolicyData(ctx context.Context, policies Policies, asOf time.Time) (*policyData, error) {
	var sets map[string]struct {
		Accept map[string][]any `json:"accept"`
		Rules  []map[string]any `json:"rules"`
	}
	s := &policyData{accepted: map[string]any{}, labels: map[string]map[string]any{}}
	for query, target := range map[string]any{"data.catalog": &s.catalogs, "data.rules": &sets, "data.tokens": &s.tokens} {
		if err := read(ctx, policies, query, asOf, target); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(sets) {
		for _, body := range sets[name].Rules {
			s.rules = append(s.rules, newRule(body))
		}
		for what, ways := range sets[name].Accept {
			known, _ := s.accepted[what].([]any)
			s.accepted[what] = append(known, ways...)
		}
	}
	for _, one := range s.catalogs {
		for name, label := range one.Labels {
			s.labels[name] = label
		}
	}
	if coded, ok := policies.(WithCode); ok {
		s.code = coded.Code()
	}
	return s, nil
}

// comparison gathers what differs.
type comparison struct {
	found []DataChange
	fresh map[string]bool // labels that are new, and of places that had none: what rules say of them takes nobody's protection away
}

func (d *Diff) fresh(old, new *policyData) map[string]bool {
	found := map[string]bool{}
	for name := range new.labels {
		relabelled := slices.ContainsFunc(d.Places, func(m PlaceChange) bool { return m.NewLabel == name && m.OldLabel != "" })
		found[name] = old.labels[name] == nil && !relabelled
	}
	return found
}

// judging gives the verdict on what stands at a path and differs; nil is nothing.
type judging func(path []string, old, new any) Verdict

func alwaysChanged([]string, any, any) Verdict { return Changed }

// compare goes down both values as far as both are mappings. Lists are sets: their order says nothing.
func (c *comparison) compare(place string, path []string, old, new any, judged judging) {
	before, wasMapping := old.(map[string]any)
	after, isMapping := new.(map[string]any)
	if wasMapping && isMapping {
		for _, key := range keysOfBoth(before, after) {
			c.compare(place, append(slices.Clone(path), key), before[key], after[key], judged)
		}
		return
	}
	if text(old) == text(new) {
		return
	}
	if len(path) > 0 {
		place += ": " + strings.Join(path, ".")
	}
	gone, come := difference(old, new)
	c.found = append(c.found, DataChange{Verdict: judged(path, old, new), Place: place, Old: gone, New: come})
}

func (c *comparison) add(verdict Verdict, place, old, new string) {
	c.found = append(c.found, DataChange{Verdict: verdict, Place: place, Old: shortened(old), New: shortened(new)})
}

// code compares the Rego, of which nothing can be judged.
func (c *comparison) code(old, new map[string]string) {
	for _, name := range keysOfBoth(old, new) {
		if before, after := old[name], new[name]; before != after {
			c.add(Changed, "Rego: "+name, presence(before), presence(after))
		}
	}
}

func presence(code string) string {
	if code == "" {
		return ""
	}
	return "other text"
}

// difference is what is old and not new, and what is new and not old: of lists the elements.
func difference(old, new any) (gone, come string) {
	before, wasList := old.([]any)
	after, isList := new.([]any)
	if (wasList || old == nil) && (isList || new == nil) {
		return shortened(strings.Join(without(before, after), ", ")), shortened(strings.Join(without(after, before), ", "))
	}
	return shortened(shown(old)), shortened(shown(new))
}

// without is the elements of a list that another does not have, in words.
func without(list, other []any) []string {
	var texts, words []string
	for _, one := range other {
		texts = append(texts, text(one))
	}
	for _, one := range list {
		if !slices.Contains(texts, text(one)) {
			words = append(words, shown(one))
		}
	}
	return words
}

// text is the same for values that say the same.
func text(value any) string {
	encoded, err := json.Marshal(sortedLists(value))
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

func sortedLists(value any) any {
	switch value := value.(type) {
	case map[string]any:
		made := map[string]any{}
		for key, inner := range value {
			made[key] = sortedLists(inner)
		}
		return made
	case []any:
		made := make([]string, 0, len(value))
		for _, inner := range value {
			made = append(made, text(inner))
		}
		slices.Sort(made)
		return slices.Compact(made)
	}
	return value
}

// shown is a value for a person.
func shown(value any) string {
	if value == nil {
		return ""
	}
	if key, is := value.(map[string]any); is && key["kty"] != nil {
		return keyShown(key)
	}
	return claimText(value)
}

const maxShownText = 60

func shortened(text string) string {
	if characters := []rune(text); len(characters) > maxShownText {
		return string(characters[:maxShownText-1]) + "…"
	}
	return text
}

func keysOfBoth[V any](a, b map[string]V) []string {
	keys := append(sortedKeys(a), sortedKeys(b)...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// compareLists judges a list of which each element gives: more elements are wider.
func compareLists(old, new any) Verdict {
	before, _ := old.([]any)
	after, _ := new.([]any)
	gone, come := len(without(before, after)), len(without(after, before))
	switch {
	case gone == 0 && come > 0:
		return Widened
	case come == 0 && gone > 0:
		return Narrowed
	}
	return Changed
}

// compareNumbers judges a number of which more is wider.
func compareNumbers(old, new any, unless float64) Verdict {
	number := func(value any) float64 {
		if value, is := value.(float64); is {
			return value
		}
		return unless
	}
	return verdictOf(cmp.Compare(number(new), number(old)))
}
