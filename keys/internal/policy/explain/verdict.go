package explain

import (
	"cmp"
	"slices"
)

// Verdict is what a change does to somebody's access.
type Verdict string

// The verdicts, the gravest first. Changed is neither more nor less: two masks that
// show different parts, say.
const (
	Widened  Verdict = "widened"
	Changed  Verdict = "changed"
	Narrowed Verdict = "narrowed"
	Same     Verdict = "same"
)

// Verdicts are all but Same, the gravest first.
var Verdicts = []Verdict{Widened, Changed, Narrowed}

// compareReads compares two treatments by how much they show: refuse, null, conceal, mask,
// reveal with a budget, reveal.
func compareReads(old, new Read) Verdict {
	switch byRank := verdictOf(new.rank() - old.rank()); {
	case byRank != Same:
		return byRank
	case new.Kind() == "budget":
		return compareBudgets(*old.Budget, *new.Budget)
	case new.Format != old.Format:
		return Changed // two masks show different parts
	}
	return Same
}

// compareBudgets calls a budget wider that is wider in one way and narrower in none: more
// rows, sooner anew, more past it.
func compareBudgets(old, new Budget) Verdict {
	ways := []Verdict{
		verdictOf(cmp.Compare(new.Rows, old.Rows)),
		verdictOf(cmp.Compare(old.PerSeconds, new.PerSeconds)),
		compareReads(old.Then, new.Then),
	}
	ways = slices.DeleteFunc(ways, func(v Verdict) bool { return v == Same })
	ways = slices.Compact(ways)
	switch len(ways) {
	case 0:
		return Same
	case 1:
		return ways[0]
	}
	return Changed
}

func compareWrites(old, new Access) Verdict {
	switch {
	case old.Seals() == new.Seals():
		return Same
	case new.Seals():
		return Widened
	}
	return Narrowed
}

func verdictOf(more int) Verdict {
	switch {
	case more > 0:
		return Widened
	case more < 0:
		return Narrowed
	}
	return Same
}

// reversed is what the same is the other way round.
func (v Verdict) reversed() Verdict {
	switch v {
	case Widened:
		return Narrowed
	case Narrowed:
		return Widened
	}
	return v
}

func (v Verdict) gravity() int {
	if at := slices.Index(Verdicts, v); at >= 0 {
		return at
	}
	return len(Verdicts)
}

func gravest(a, b Verdict) Verdict {
	if b.gravity() < a.gravity() {
		return b
	}
	return a
}
