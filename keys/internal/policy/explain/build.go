package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Policies are what is asked: package policy's, or a test's.
type Policies interface {
	Evaluate(ctx context.Context, query string, input any, now time.Time) (value any, defined bool, err error)
}

// Asked says what is to be explained.
type Asked struct {
	Paths  []string // the policies' names, for the reader
	AsOf   time.Time
	Source string // where the samples are from
	Notes  []string
}

// answer is data.fieldveil.explain.
type answer struct {
	Subject    string                  `json:"subject"`
	Denied     string                  `json:"denied"`
	BreakGlass []string                `json:"break_glass"`
	Labels     map[string]answeredCell `json:"labels"`
}

type answeredCell struct {
	Access
	Places []string `json:"places"`
}

// Build asks for every sample and puts the answers together.
func Build(ctx context.Context, policies Policies, samples []Sample, asked Asked) (*Report, error) {
	place := strings.Join(asked.Paths, ", ")
	stored, err := definitions(ctx, policies, asked.AsOf)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Version: FormatVersion, Policies: asked.Paths, AsOf: asked.AsOf.UTC().Format(time.RFC3339), Source: asked.Source,
		Notes: append([]string{}, asked.Notes...), Principals: []Principal{}, Labels: []Label{}, Cells: []Cell{},
	}
	places := map[string][]string{}
	answers := make([]*answer, len(samples))
	for i, sample := range samples {
		if answers[i], err = ask(ctx, policies, sample, asked.AsOf, place); err != nil {
			return nil, err
		}
		report.Principals = append(report.Principals, sample.principal(answers[i]))
		for name, cell := range answers[i].Labels {
			places[name] = append(places[name], cell.Places...)
		}
	}
	for _, name := range sortedKeys(places) {
		label := stored[name].label(name)
		slices.Sort(places[name])
		label.Places = append([]string{}, slices.Compact(places[name])...)
		report.Labels = append(report.Labels, label)
		for i, sample := range samples {
			if cell, has := answers[i].Labels[name]; has {
				report.Cells = append(report.Cells, Cell{Label: name, Principal: sample.Name, Access: cell.Access, Search: label.search(cell.Access)})
			}
		}
	}
	return report, nil
}

func (s Sample) principal(a *answer) Principal {
	p := Principal{Name: s.Name, Attributes: s.attributes(), Subject: a.Subject, Denied: a.Denied, BreakGlass: a.BreakGlass}
	if !s.At.IsZero() {
		p.At = s.At.Format(time.RFC3339)
	}
	if p.Attributes == nil {
		p.Attributes = []Pair{}
	}
	if p.BreakGlass == nil {
		p.BreakGlass = []string{}
	}
	return p
}

func ask(ctx context.Context, policies Policies, sample Sample, asOf time.Time, place string) (*answer, error) {
	a, defined, err := answerTo(ctx, policies, sample, asOf)
	if errors.Is(err, errShape) {
		return nil, fault.Input(place, "its library's data.fieldveil.explain has another shape than this program knows",
			"use the library and the program of one version")
	}
	if err != nil {
		return nil, err
	}
	if !defined {
		return nil, fault.Input(place, fmt.Sprintf("the policies do not answer for %q: they have problems, or lack the library", sample.Name),
			"see: fieldveil policy check "+place)
	}
	for name, cell := range a.Labels {
		if !known(cell.Access) {
			return nil, fault.Input(place, "its library gives label "+name+" a treatment that this program does not know",
				"use the library and the program of one version")
		}
		sorted(&cell.Access)
		a.Labels[name] = cell
	}
	return a, nil
}

var errShape = errors.New("another shape")

// answerTo is what the policies say to a sample; not defined where they say nothing.
func answerTo(ctx context.Context, policies Policies, sample Sample, asOf time.Time) (*answer, bool, error) {
	at := asOf
	if !sample.At.IsZero() {
		at = sample.At
	}
	value, defined, err := policies.Evaluate(ctx, "data.fieldveil.explain", sample.Input(), at)
	if err != nil || !defined {
		return nil, false, err
	}
	var a answer
	if into(value, &a) != nil {
		return nil, false, errShape
	}
	return &a, true, nil
}

// known refuses what could not be judged.
func known(a Access) bool {
	for read := &a.Read; ; read = &read.Budget.Then {
		if read.rank() < 0 || (read.Kind() == "mask") != (read.Format != "") {
			return false
		}
		switch {
		case read.Budget == nil:
			return a.Write == "seal" || a.Write == "refuse"
		case read.Kind() != "budget":
			return false
		}
	}
}

func sorted(a *Access) {
	for _, rules := range []*[]string{&a.ReadBy, &a.WriteBy} {
		if *rules == nil {
			*rules = []string{}
		}
		slices.Sort(*rules)
	}
}

// definition is what a catalog says of a label.
type definition struct {
	Protection string `json:"protection"`
	Keyset     string `json:"keyset"`
	Type       string `json:"type"`
	Alphabet   string `json:"alphabet"`
	Mask       string `json:"mask"`
	Plaintext  string `json:"on_plaintext"`
	Leakage    string `json:"accept_leakage"`
	Tenant     any    `json:"tenant"`
}

// definitions are what catalogs say of each label. Where they said it in two ways, there
// would be no answer at all.
func definitions(ctx context.Context, policies Policies, asOf time.Time) (map[string]definition, error) {
	var places map[string][]struct {
		Definition definition `json:"definition"`
	}
	if err := read(ctx, policies, "data.fieldveil.columns.places", asOf, &places); err != nil {
		return nil, err
	}
	found := make(map[string]definition, len(places))
	for name, alternatives := range places {
		for _, one := range alternatives {
			found[name] = one.Definition
		}
	}
	return found, nil
}

func (d definition) label(name string) Label {
	return Label{
		Name: name, Protection: d.Protection, Keyset: d.Keyset, Type: d.Type, Alphabet: d.Alphabet, Mask: d.Mask,
		Plaintext: d.Plaintext, Leakage: d.Leakage, Tenant: tenantText(d.Tenant),
	}
}

// tenantText is the tenant, or what chooses it.
func tenantText(tenant any) string {
	switch tenant := tenant.(type) {
	case string:
		return tenant
	case map[string]any:
		return fmt.Sprint("by ", tenant["from"])
	}
	return ""
}

func into(value, target any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(target)
}
