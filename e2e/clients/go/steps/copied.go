package steps

import "time"

// Copied is one row of what is copied in.
type Copied struct {
	ID               int64
	Name, Email, SSN string
	// nil is NULL.
	Born *time.Time
}

// ToCopy has what the text format must escape, the first of all dates, an empty string and a NULL.
func ToCopy() []Copied {
	leap := time.Date(2000, 2, 29, 0, 0, 0, 0, time.UTC)
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	odd := "tab\tand \\ and\nline"
	return []Copied{
		{600, "first", "first@example.com", "ssn-600", &leap},
		{601, odd, odd, "ssn-601", &first},
		{602, "last", "", "ssn-602", nil},
	}
}

// Where the copied rows are read again.
const SelectCopied = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id"

// SameCopied compares what was read with what was copied in.
func SameCopied(got []Copied) error {
	wanted := ToCopy()
	if err := Expect("number of rows", len(got), len(wanted)); err != nil {
		return err
	}
	for number, row := range got {
		if row.Born != nil {
			utc := row.Born.UTC()
			row.Born = &utc
		}
		if err := Expect("copied", row, wanted[number]); err != nil {
			return err
		}
	}
	return nil
}
