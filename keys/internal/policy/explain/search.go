package explain

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Search is how somebody can find out whether a value is stored under a label.
type Search string

const (
	// NoSearch: not at all, as far as the policies say.
	NoSearch Search = "no"
	// ByValue: the filter looks for the value that is asked for.
	ByValue Search = "by value"
	// ByWriting: the filter refuses to look for a value, but one that is written meets an equal one in the database: a
	// unique index tells. The threat model says what else does.
	ByWriting Search = "by writing"
)

// search is how somebody with this access can find out whether a value is stored.
func (l Label) search(a Access) Search {
	seen := a.Read.rank() >= (Read{Treatment: "mask"}).rank()
	switch {
	case !slices.Contains([]string{"deterministic", "indexed", "format_preserving"}, l.Protection):
		return NoSearch
	case seen && !hasSeveralTexts(l.Type):
		return ByValue
	case !seen && a.Seals():
		return ByWriting
	}
	return NoSearch
}

// hasSeveralTexts says whether equal values of a type may be stored unequal, so that the filter refuses to look for one.
func hasSeveralTexts(kind string) bool {
	return slices.Contains([]string{"bpchar", "float8", "json", "jsonb", "numeric"}, strings.TrimSuffix(kind, "[]"))
}

// Searches is a line for each label of which somebody can find values: who by asking for one, and who by writing one alone.
func (r *Report) Searches() [][]string {
	var lines [][]string
	for _, label := range r.Labels {
		found := map[Search][]string{}
		for _, cell := range r.Cells {
			if cell.Label == label.Name {
				found[cell.Search] = append(found[cell.Search], cell.Principal)
			}
		}
		if len(found[ByValue])+len(found[ByWriting]) > 0 {
			lines = append(lines, []string{label.Name, orMissing(strings.Join(found[ByValue], ", ")), orMissing(strings.Join(found[ByWriting], ", "))})
		}
	}
	return lines
}

// searchesHeading says what the lines of Searches are.
const searchesHeading = "Who can find out whether a value is stored"

// Guess is a rule that lets labels be written by somebody who may not search by them, and who may so try guesses.
type Guess struct {
	Rule   string
	Labels []string // sorted
	Shown  bool     // the ciphertexts of one at least are shown to whom it lets write
}

// Guesses are the rules by which samples made from the rules can find values by writing, by name. Of policies whose
// library does not explain itself there are none.
func Guesses(ctx context.Context, policies Policies, asOf time.Time) ([]Guess, error) {
	stored, err := definitions(ctx, policies, asOf)
	if err != nil {
		return nil, err
	}
	samples, _, err := FromRules(ctx, []Policies{policies}, "", asOf)
	if err != nil {
		return nil, err
	}
	found := map[string]*Guess{}
	for _, sample := range samples {
		answer, defined, err := answerTo(ctx, policies, sample, asOf)
		if err != nil {
			return nil, err
		}
		if !defined {
			continue
		}
		for name, cell := range answer.Labels {
			if stored[name].label(name).search(cell.Access) != ByWriting {
				continue
			}
			for _, rule := range cell.WriteBy {
				guess := found[rule]
				if guess == nil {
					guess = &Guess{Rule: rule}
					found[rule] = guess
				}
				guess.Labels = append(guess.Labels, name)
				guess.Shown = guess.Shown || cell.Read.Kind() == "conceal"
			}
		}
	}
	var guesses []Guess
	for _, rule := range sortedKeys(found) {
		slices.Sort(found[rule].Labels)
		found[rule].Labels = slices.Compact(found[rule].Labels)
		guesses = append(guesses, *found[rule])
	}
	return guesses, nil
}
