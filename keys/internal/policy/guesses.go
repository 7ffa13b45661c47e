package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/policy/explain"
)

// searchByWriting is the warning of a rule that lets write what may not be searched by.
const searchByWriting = "search-by-writing"

// guessed warns of each rule by which somebody who may not search by a label may write values of it, where equal values
// are stored alike: what the filter can not hide from who writes is said in docs/reference/search-by-writing.md.
func (p *Policy) guessed(ctx context.Context, whole string, now time.Time) (Problems, error) {
	guesses, err := explain.Guesses(ctx, p, now)
	if err != nil {
		return nil, err
	}
	var warnings Problems
	for _, guess := range guesses {
		tells, remedy := "a unique index or a foreign key tells them", ""
		if guess.Shown {
			tells, remedy = tells+", and so do the ciphertexts that they are shown", "give them null in place of conceal, and "
		}
		warnings = append(warnings, p.placed(Problem{
			ID:   searchByWriting,
			Path: p.ruleNamed(guess.Rule),
			Reason: fmt.Sprintf("some of those whom it lets write %s may not search for a value, and can write a guess to learn whether it is stored: %s",
				strings.Join(guess.Labels, ", "), tells),
			Remedy: remedy + "have no unique index there; or store it randomized, let them see a part of it (mask), or let others write it",
		}, whole))
	}
	return warnings, nil
}

// ruleNamed is the path to what the first rule of this name says of writing.
func (p *Policy) ruleNamed(name string) Path {
	sets, _ := p.data["rules"].(map[string]any)
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		ruleset, _ := sets[set].(map[string]any)
		rules, _ := ruleset["rules"].([]any)
		for i, rule := range rules {
			said, _ := rule.(map[string]any)
			if said["name"] == name && said["write"] == "seal" {
				return Path{"rules", set, "rules", i, "write"}
			}
		}
	}
	return nil
}
