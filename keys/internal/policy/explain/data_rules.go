package explain

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// rule is one of data.rules.
type rule struct {
	name string
	body map[string]any // without the name
	read *Read
}

func newRule(body map[string]any) rule {
	r := rule{body: maps.Clone(body)}
	r.name, _ = body["name"].(string)
	delete(r.body, "name")
	if said, is := body["read"]; is {
		var read Read
		if into(said, &read) == nil {
			r.read = &read
		}
	}
	return r
}

// limits says whether it is a limit. Of several rules and limits the strictest counts, so a
// limit never gives anything.
func (r rule) limits() bool { return r.body["unless"] != nil }

func (r rule) breaksGlass() bool { return r.body["break_glass"] != nil }

func (r rule) place() string { return "rule " + r.name }

// rules compares rules by what they say, and those that say something else by their names.
func (c *comparison) rules(old, new *policyData) {
	everywhere := slices.Concat(old.rules, new.rules)
	names := slices.Concat(sortedKeys(old.labels), sortedKeys(new.labels))
	before, after := unlike(old.rules, new.rules), unlike(new.rules, old.rules)
	for _, was := range before {
		at := slices.IndexFunc(after, func(is rule) bool { return is.name == was.name && is.limits() == was.limits() })
		if at < 0 {
			c.whole(was, false, everywhere, names)
			continue
		}
		c.rule(was, after[at], everywhere, names)
		after = slices.Delete(after, at, at+1)
	}
	for _, is := range after {
		c.whole(is, true, everywhere, names)
	}
}

// unlike is the rules that say what none of the others says.
func unlike(some, others []rule) []rule {
	var texts []string
	for _, other := range others {
		texts = append(texts, text(other.body))
	}
	return slices.DeleteFunc(slices.Clone(some), func(r rule) bool { return slices.Contains(texts, text(r.body)) })
}

// whole is a rule that comes or goes.
func (c *comparison) whole(r rule, comes bool, everywhere []rule, names []string) {
	verdict := Changed
	switch {
	case len(c.known(r, names)) == 0:
		return
	case r.limits():
		verdict = Narrowed
	case r.gives(everywhere, names):
		verdict = Widened
	}
	one := DataChange{Verdict: verdict, Place: r.place(), New: "a rule", rule: r.name, labels: r.labels(names)}
	if !comes {
		one.Verdict, one.Old, one.New = verdict.reversed(), one.New, ""
	}
	c.found = append(c.found, one)
}

func (c *comparison) rule(old, new rule, everywhere []rule, names []string) {
	gives := old.gives(everywhere, names) && new.gives(everywhere, names)
	labels := slices.Concat(old.labels(names), new.labels(names))
	// What a rule gives to more principals is more, and so is excepting more of them from a limit.
	wider := func(more Verdict) Verdict {
		if gives || new.limits() {
			return more
		}
		return Changed
	}
	compare := func(what string, byName bool, judged judging) {
		from := len(c.found)
		c.compare(new.place(), []string{what}, old.body[what], new.body[what], judged)
		for i := range c.found[from:] {
			if c.found[from+i].labels = labels; byName {
				c.found[from+i].rule = new.name
			}
		}
	}
	conditions := func(path []string, old, new any) Verdict { return wider(conditionVerdict(old, new)) }
	compare("who", false, conditions)
	compare("unless", false, conditions)
	c.spoken(old, new, names, labels, wider)
	compare("write", true, alwaysChanged)
	compare("break_glass", false, breakGlassVerdict)
	if text(old.body["read"]) != text(new.body["read"]) {
		one := DataChange{Verdict: Changed, Place: new.place() + ": read", Old: orNothing(old.read), New: orNothing(new.read), rule: new.name, labels: labels}
		if old.read != nil && new.read != nil {
			one.Verdict = compareReads(*old.read, *new.read)
		}
		c.found = append(c.found, one)
	}
}

// known is the labels of a rule that are not fresh.
func (c *comparison) known(r rule, names []string) []any {
	var found []any
	for _, label := range r.labels(names) {
		if !c.fresh[label] {
			found = append(found, label)
		}
	}
	return found
}

// spoken compares the labels of which a rule speaks, whatever the patterns.
func (c *comparison) spoken(old, new rule, names, labels []string, wider func(Verdict) Verdict) {
	before, after := c.known(old, names), c.known(new, names)
	if text(before) == text(after) {
		return
	}
	verdict := wider(compareLists(before, after))
	if new.limits() {
		verdict = verdict.reversed()
	}
	gone, come := difference(before, after)
	c.found = append(c.found, DataChange{Verdict: verdict, Place: new.place() + ": labels", Old: gone, New: come, rule: new.name, labels: labels})
}

func orNothing(read *Read) string {
	if read == nil {
		return ""
	}
	return shortened(strings.TrimSpace(read.Text()))
}

// conditionVerdict: fewer conditions, or more values of one, are of more principals.
func conditionVerdict(old, new any) Verdict {
	switch {
	case old == nil:
		return Narrowed
	case new == nil:
		return Widened
	}
	return compareLists(old, new)
}

// breakGlassVerdict: a reason says nothing of access. With or without break-glass the same rule may give more.
func breakGlassVerdict(path []string, old, new any) Verdict {
	switch path[len(path)-1] {
	case "reason":
		return Same
	case "expires":
		before, err := time.Parse(time.RFC3339, shown(old))
		after, err2 := time.Parse(time.RFC3339, shown(new))
		if err == nil && err2 == nil {
			return verdictOf(after.Compare(before))
		}
	}
	return Changed
}

func (r rule) labels(names []string) []string {
	patterns, _ := r.body["labels"].([]any)
	found := []string{}
	for _, pattern := range patterns {
		fits, err := Matcher(shown(pattern))
		for _, name := range names {
			if err != nil || fits(name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// gives says whether a rule never takes anything: it shows more than what everybody gets, and
// as much as any other rule of one of its labels.
func (r rule) gives(everywhere []rule, names []string) bool {
	if r.limits() || r.body["write"] == "refuse" {
		return false
	}
	if r.read == nil {
		return !r.breaksGlass()
	}
	conceal := Read{Treatment: "conceal"}
	if r.read.rank() <= conceal.rank() {
		return false
	}
	labels := r.labels(names)
	return !slices.ContainsFunc(everywhere, func(other rule) bool {
		if other.limits() || other.read == nil || other.breaksGlass() && !r.breaksGlass() {
			return false // it takes the place of this one, and is not stricter together with it
		}
		verdict := compareReads(*r.read, *other.read)
		return verdict != Same && verdict != Narrowed &&
			slices.ContainsFunc(other.labels(names), func(label string) bool { return slices.Contains(labels, label) })
	})
}
