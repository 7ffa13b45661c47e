package table

import (
	"maps"
	"slices"
)

// maxProblems is how many rows a report names.
const maxProblems = 20

// Report is what was found and done, also by earlier runs if a checkpoint tells of
// them.
type Report struct {
	Command Command `json:"command"`
	Table   string  `json:"table"`
	DryRun  bool    `json:"dry_run"`
	Range   Range   `json:"range"`
	Rows    int64   `json:"rows"`
	// Written are rows known to have been changed: one whose transaction was confirmed to nobody is not counted.
	Written int64          `json:"written"`
	Seconds float64        `json:"seconds"`
	Columns []ColumnReport `json:"columns"`
	// Problems name the first rows that are not as they should be, and Faulty counts all such values.
	Problems []Problem `json:"problems"`
	Faulty   int64     `json:"faulty"`
}

// ColumnReport is how many values of a column were found in which state.
type ColumnReport struct {
	Column string           `json:"column"`
	Label  string           `json:"label"`
	KeyID  uint32           `json:"wanted_key_id,omitempty"`
	Found  map[string]int64 `json:"found"`
}

// Problem is a row of which something is not as it should be.
type Problem struct {
	Key     Key      `json:"key"`
	Columns []string `json:"columns"`
	Reason  string   `json:"reason"`
}

func newReport(j *Job) *Report {
	report := &Report{Command: j.Command, Table: j.Table, DryRun: j.DryRun, Range: j.Range, Problems: []Problem{}}
	for _, column := range j.Columns {
		one := ColumnReport{Column: column.Name, Label: column.Label, KeyID: column.KeyID, Found: map[string]int64{}}
		report.Columns = append(report.Columns, one)
	}
	return report
}

// goneOn is the report of an earlier run, with the columns in the order of this one's.
func (r *Report) goneOn(j *Job) *Report {
	report := newReport(j)
	report.Rows, report.Written, report.Seconds, report.Faulty = r.Rows, r.Written, r.Seconds, r.Faulty
	report.Problems = append(report.Problems, r.Problems...)
	for i, column := range report.Columns {
		report.Columns[i].Found = r.found(column.Column)
	}
	return report
}

// found is what was found of a column; nil if the report does not know it.
func (r *Report) found(column string) map[string]int64 {
	for _, one := range r.Columns {
		if one.Column == column {
			return one.Found
		}
	}
	return nil
}

func (r *Report) clone() *Report {
	copied := *r
	copied.Problems = slices.Clone(r.Problems)
	copied.Columns = slices.Clone(r.Columns)
	for i := range copied.Columns {
		copied.Columns[i].Found = maps.Clone(r.Columns[i].Found)
	}
	return &copied
}

// see counts a page of stored rows, and gives what the command changes of them.
func (r *Report) see(j *Job, rows []Row) []Change {
	var changes []Change
	for _, row := range rows {
		change := Change{Row: row}
		for i := range j.Columns {
			state, reason := j.Columns[i].state(row.Values[i])
			r.Columns[i].Found[state.String()]++
			if j.Command.concerns(state) {
				change.Columns = append(change.Columns, i)
			}
			if j.Command.faulty(state, j.Unsealed) {
				r.fault(row.Key, []string{j.Columns[i].Name}, reason)
			}
		}
		if len(change.Columns) > 0 {
			changes = append(changes, change)
		}
	}
	return changes
}

func (r *Report) fault(key Key, columns []string, reason string) {
	r.Faulty += int64(len(columns))
	if last := len(r.Problems) - 1; last >= 0 && r.Problems[last].Key.id() == key.id() && r.Problems[last].Reason == reason {
		r.Problems[last].Columns = append(r.Problems[last].Columns, columns...)
	} else if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, Problem{key, columns, reason})
	}
}
