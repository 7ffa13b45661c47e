package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Problem is one thing that is wrong in the files: where, what, and what to do.
type Problem struct {
	Position
	ID     string `json:"id,omitempty"` // of a kind of warning that may be meant, so that it can be told from others
	Path   Path   `json:"path"`         // empty where no value is meant
	Reason string `json:"reason"`
	Remedy string `json:"remedy"`
}

// Fault is the problem as the one shape of error that a person reads.
func (p Problem) Fault() *fault.Fault { return p.at(p.Position.String()) }

// Warning is the same for what stops nothing.
func (p Problem) Warning() *fault.Fault {
	if p.ID != "" {
		return p.at(p.Position.String() + ": warning[" + p.ID + "]")
	}
	return p.at(p.Position.String() + ": warning")
}

func (p Problem) at(place string) *fault.Fault {
	if len(p.Path) > 0 {
		place += ": " + p.Path.String()
	}
	return fault.Input(place, p.Reason, p.Remedy)
}

// Problems is why policies can't be used: one problem or more, sorted by place.
type Problems []Problem

// Error is one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Fault().Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the first problem, whose exit status is that of all.
func (p Problems) Unwrap() error { return p[0].Fault() }

// sorted is the problems by place, each once.
func (p Problems) sorted() Problems {
	slices.SortFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Fault().Error(), b.Fault().Error()))
	})
	return slices.CompactFunc(p, func(a, b Problem) bool {
		return a.Position == b.Position && a.Fault().Error() == b.Fault().Error()
	})
}

// orNil is no error for no problem.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p.sorted()
}
