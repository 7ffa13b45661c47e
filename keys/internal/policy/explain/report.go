// Package explain tells who can see what: it asks the policies what each of some
// sample principals gets of each label, and by which rule, and shows the answers
// as a table, Markdown, JSON or a page. Two sets of policies are compared in the
// same way, so that a roll-out can be judged before it.
//
// It knows what the policies say and nothing of values: every example of a mask is
// of a made-up value.
package explain

import (
	"slices"
	"strings"
)

// FormatVersion is that of the JSON documents. It grows when a member changes its
// meaning or goes; members may be added at any time.
const FormatVersion = 1

// Report is who can see what under one set of policies.
type Report struct {
	Version    int         `json:"version"`
	Policies   []string    `json:"policies"`        // the folders or bundles that were read
	AsOf       string      `json:"as_of"`           // RFC 3339: the moment asked for, where a principal has none of its own
	Source     string      `json:"principals_from"` // a file's name, or "rules"
	Notes      []string    `json:"notes"`           // what the reader must know of the principals
	Principals []Principal `json:"principals"`
	Labels     []Label     `json:"labels"`
	Cells      []Cell      `json:"cells"` // by label, then by principal, in the order of these
}

// Principal is one who asks, and what is true of it whatever the label.
type Principal struct {
	Name       string   `json:"name"`
	Attributes []Pair   `json:"attributes"` // of the input, those that are not empty
	At         string   `json:"at,omitempty"`
	Subject    string   `json:"subject"`
	Denied     string   `json:"denied,omitempty"`
	BreakGlass []string `json:"break_glass"`
}

// Pair is an attribute and its value, as text.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Label is a data class: how it is stored, and where it lives.
type Label struct {
	Name       string   `json:"name"`
	Protection string   `json:"protection"`
	Keyset     string   `json:"keyset"`
	Type       string   `json:"type"`
	Alphabet   string   `json:"alphabet,omitempty"`
	Tenant     string   `json:"tenant,omitempty"`
	Mask       string   `json:"mask,omitempty"`
	Plaintext  string   `json:"on_plaintext,omitempty"`
	Leakage    string   `json:"accept_leakage,omitempty"`
	Places     []string `json:"places"`
}

// Cell is what one principal gets of one label.
type Cell struct {
	Label     string `json:"label"`
	Principal string `json:"principal"`
	Access
	Search Search `json:"search"`
}

// Access is what somebody gets of something, and the rules that decided it. Without
// a rule it is what everybody gets of whom no rule speaks.
type Access struct {
	Read    Read     `json:"read"`
	Write   string   `json:"write"` // seal or refuse
	ReadBy  []string `json:"read_by"`
	WriteBy []string `json:"write_by"`
}

// Read is a treatment, as a plan has it.
type Read struct {
	Treatment string  `json:"treatment"`
	Format    string  `json:"format,omitempty"`
	Budget    *Budget `json:"budget,omitempty"`
}

// Budget is how many rows are revealed in a time, and what follows past it.
type Budget struct {
	Rows       int64 `json:"rows"`
	PerSeconds int64 `json:"per_seconds"`
	Then       Read  `json:"then"`
}

// Kind is the treatment in a word of its own for each step of strictness.
func (r Read) Kind() string {
	if r.Treatment == "reveal" && r.Budget != nil {
		return "budget"
	}
	return r.Treatment
}

// Kinds are all kinds of treatment, the strictest first.
var Kinds = []string{"refuse", "null", "conceal", "mask", "budget", "reveal"}

// rank is how much a treatment shows: the place in Kinds.
func (r Read) rank() int { return slices.Index(Kinds, r.Kind()) }

// Seals says whether it may be written.
func (a Access) Seals() bool { return a.Write == "seal" }

// cells finds what a principal gets of a label.
type cells map[[2]string]Access

func (r *Report) cells() cells {
	found := make(cells, len(r.Cells))
	for _, cell := range r.Cells {
		found[[2]string{cell.Label, cell.Principal}] = cell.Access
	}
	return found
}

func (r *Report) label(name string) (Label, bool) {
	at, found := slices.BinarySearchFunc(r.Labels, name, func(l Label, name string) int {
		return strings.Compare(l.Name, name)
	})
	if !found {
		return Label{}, false
	}
	return r.Labels[at], true
}
