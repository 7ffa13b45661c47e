// Package steps is what the Go clients share: the values, the order of the steps, and one line of JSON for each.
package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// What more than one client sends or expects.
const (
	User       = "app"
	Refused    = "0A000"
	SSN        = "078-05-1120"
	Ref        = "c56a4180-65aa-42ec-a945-5fd21dec0538"
	NewEmail   = "new@example.com"
	NewBalance = "-0.05"
	LastEmail  = "two@example.com"
	Columns    = "id, name, ssn, ref, email, born, balance, visits, score, active, seen, made, extra, photo"
	Insert     = "INSERT INTO person (" + Columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
	Select     = "SELECT " + Columns + " FROM person WHERE id = $1"
	Short      = "INSERT INTO person (id, ssn) VALUES ($1, $2)"
	SSNOf      = "SELECT ssn FROM person WHERE id = $1"
	Update     = "UPDATE person SET email = $1, balance = $2 WHERE ssn = $3 RETURNING id, email, balance"
	Upsert     = "INSERT INTO person (id, ssn, email) VALUES ($1, $2, $3) " +
		"ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email"
	OrderBySSN = "SELECT id FROM person ORDER BY ssn"
)

// The rows of the steps that write many.
const (
	FirstOfBatch, LastOfBatch       = 100, 119
	FirstOfPrepared, LastOfPrepared = 200, 209
)

// Row is one person, in Go's own types; numeric is text, as Go has none.
type Row struct {
	ID      int64
	Name    string
	SSN     string
	Ref     string
	Email   string
	Born    time.Time
	Balance string
	Visits  int32
	Score   float64
	Active  bool
	Seen    time.Time
	Made    time.Time
	Extra   json.RawMessage
	Photo   []byte
}

// First is the row that is there from the beginning.
func First() Row {
	return Row{
		ID: 1, Name: "Zoë", SSN: SSN, Ref: Ref, Email: "zoë@example.com",
		Born:    time.Date(1980, 5, 17, 0, 0, 0, 0, time.UTC),
		Balance: "1234.50", Visits: 42, Score: 0.1, Active: true,
		Seen:  time.Date(2024, 2, 29, 10, 0, 0, 500_000_000, time.UTC),
		Made:  time.Date(1999, 12, 31, 23, 59, 59, 123_000_000, time.UTC),
		Extra: json.RawMessage(`{"a": [1, 2.5], "b": "x"}`),
		Photo: []byte{0x00, 0xff, 0x10},
	}
}

// Numbered is the row of this id, all columns.
func Numbered(id int64) Row {
	row := First()
	row.ID, row.SSN, row.Ref = id, SSNFor(id), fmt.Sprintf("00000000-0000-0000-0000-%012x", id)
	return row
}

// SSNFor is the ssn of every row but the first.
func SSNFor(id int64) string { return fmt.Sprintf("ssn-%d", id) }

// Values are the row's, in the order of Columns.
func (r Row) Values() []any {
	return []any{
		r.ID, r.Name, r.SSN, r.Ref, r.Email, r.Born, r.Balance, r.Visits, r.Score, r.Active, r.Seen, r.Made,
		[]byte(r.Extra), r.Photo,
	}
}

// Targets are where a driver scans the columns to.
func (r *Row) Targets() []any {
	return []any{
		&r.ID, &r.Name, &r.SSN, &r.Ref, &r.Email, &r.Born, &r.Balance, &r.Visits, &r.Score, &r.Active, &r.Seen, &r.Made,
		(*[]byte)(&r.Extra), &r.Photo,
	}
}

// Same compares a row that was read with what it has to be.
func Same(got, wanted Row) error {
	var gotExtra, wantedExtra any
	if err := json.Unmarshal(got.Extra, &gotExtra); err != nil {
		return fmt.Errorf("extra: %w", err)
	}
	if err := json.Unmarshal(wanted.Extra, &wantedExtra); err != nil {
		return err
	}
	switch {
	case !reflect.DeepEqual(gotExtra, wantedExtra):
		return fmt.Errorf("wrong extra: %v instead of %v", gotExtra, wantedExtra)
	case !bytes.Equal(got.Photo, wanted.Photo):
		return fmt.Errorf("wrong photo: %x instead of %x", got.Photo, wanted.Photo)
	}
	// One instant has many zones, and a date none.
	for _, each := range []struct {
		name        string
		got, wanted time.Time
	}{{"born", got.Born, wanted.Born}, {"seen", got.Seen, wanted.Seen}, {"made", got.Made, wanted.Made}} {
		if !each.got.Equal(each.wanted) {
			return fmt.Errorf("wrong %s: %v instead of %v", each.name, each.got, each.wanted)
		}
	}
	got.Born, got.Seen, got.Made, got.Extra, got.Photo = wanted.Born, wanted.Seen, wanted.Made, wanted.Extra, wanted.Photo
	return Expect("row", got, wanted)
}

// Expect is an error when the two differ.
func Expect(what string, got, wanted any) error {
	if !reflect.DeepEqual(got, wanted) {
		return fmt.Errorf("wrong %s: %v instead of %v", what, got, wanted)
	}
	return nil
}
