package policy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Report is what a check found. Counts are of sound policies alone.
type Report struct {
	Problems Problems `json:"problems"`
	Warnings Problems `json:"warnings"`
	Counts   *Counts  `json:"counts"`
}

// Counts is how much there is.
type Counts struct {
	Catalogs int64 `json:"catalogs"`
	Labels   int64 `json:"labels"`
	Columns  int64 `json:"columns"`
	Services int64 `json:"services"`
	Rules    int64 `json:"rules"`
}

// Check reads policies and tells all that is wrong with them. The error is for
// what could not be read at all.
func Check(ctx context.Context, paths []string, options Options, now time.Time) (*Report, error) {
	p, err := Load(paths, options)
	var problems Problems
	if errors.As(err, &problems) {
		return &Report{Problems: problems, Warnings: Problems{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return p.Check(ctx, strings.Join(paths, ", "), now)
}

// Check tells all that is wrong with policies that were read; whole is their name
// for a person, for what is wrong with no file alone.
func (p *Policy) Check(ctx context.Context, whole string, now time.Time) (*Report, error) {
	report := &Report{Problems: Problems{}, Warnings: Problems{}}
	var err error
	if report.Problems, err = p.found(ctx, problems, whole, now); err != nil || len(report.Problems) > 0 {
		return report, err
	}
	if report.Warnings, err = p.found(ctx, lints, whole, now); err != nil {
		return nil, err
	}
	guessed, err := p.guessed(ctx, whole, now)
	if err != nil {
		return nil, err
	}
	report.Warnings = append(report.Warnings, guessed...)
	for _, f := range p.leftOut {
		report.Warnings = append(report.Warnings, Problem{Position: Position{File: f.name}, Reason: f.leftOut, Remedy: "rename it if it is meant"})
	}
	report.Warnings = report.Warnings.sorted()
	report.Counts, err = p.count(ctx, now)
	return report, err
}

const (
	problems = "data.fieldveil.problems.found"
	lints    = "data.fieldveil.lints.found"
)

// found is what a set of the library says, each at its place in the files.
func (p *Policy) found(ctx context.Context, query, whole string, now time.Time) (Problems, error) {
	value, defined, err := p.Evaluate(ctx, query, map[string]any{}, now)
	if err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if query == lints && !defined {
		return Problems{}, nil // a library from before there were any
	}
	if !ok {
		return nil, fault.Input(whole, "its library does not say "+query, "take the library of this version, or leave it out for the built-in one")
	}
	found := Problems{}
	for _, entry := range list {
		found = append(found, p.placed(problemOf(entry), whole))
	}
	return found.sorted(), nil
}

// placed is a problem at the place of its path in the files.
func (p *Policy) placed(problem Problem, whole string) Problem {
	problem.Position = Position{File: whole}
	if where, depth, found := locate(p.documents, problem.Path); found && depth > 0 {
		problem.Position = where
	}
	return problem
}

// problemOf reads {path, reason, remedy}.
func problemOf(entry any) Problem {
	object, ok := entry.(map[string]any)
	if !ok {
		encoded, _ := json.Marshal(entry)
		return Problem{Reason: strings.Trim(string(encoded), `"`), Remedy: "see the policies' documents"}
	}
	var problem Problem
	problem.Reason, _ = object["reason"].(string)
	problem.Remedy, _ = object["remedy"].(string)
	steps, _ := object["path"].([]any)
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			problem.Path = append(problem.Path, step)
		case json.Number:
			if index, err := step.Int64(); err == nil {
				problem.Path = append(problem.Path, int(index))
			}
		}
	}
	return problem
}

func (p *Policy) count(ctx context.Context, now time.Time) (*Counts, error) {
	counts := &Counts{}
	for query, count := range map[string]*int64{
		"count(data.fieldveil.columns.catalogs)":  &counts.Catalogs,
		"count(data.fieldveil.columns.labels)":    &counts.Labels,
		"count(data.fieldveil.columns.protected)": &counts.Columns,
		// A service that is in two catalogs is one.
		"count({[d.protocol, d.service] | d := data.fieldveil.services.entries[_].definition})": &counts.Services,
		"count([1 | data.rules[_].rules[_]])":                                                   &counts.Rules,
	} {
		value, _, err := p.Evaluate(ctx, query, map[string]any{}, now)
		if err != nil {
			return nil, err
		}
		if number, ok := value.(json.Number); ok {
			*count, _ = number.Int64()
		}
	}
	return counts, nil
}
