// Package table takes tables from plaintext to sealed, back again, and from old keys
// to the primary one, in place, while applications read and write them; and it
// verifies how they are sealed by reading envelopes, which needs no key.
//
// It walks a table in the order of its primary key. What it writes it writes only to
// a row that is still as it was read, so that nothing that others write is lost; and
// it reads back what it wrote. It can be ended at any point: what is done already is
// seen in the rows themselves, and a checkpoint only saves reading them again.
//
// It knows no protocol: see Server.
package table

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// Command is what is done to a table.
type Command string

// The commands there are.
const (
	Seal   Command = "seal"   // plaintext becomes envelopes
	Unseal Command = "unseal" // envelopes become plaintext
	Reseal Command = "reseal" // envelopes under another key become ones under the wanted key
	Verify Command = "verify" // nothing is written
)

// Column is a protected column of the table.
type Column struct {
	catalog.Column
	Raw   bool   // the server's column is binary: envelopes are stored raw
	KeyID uint32 // the key under which values shall be sealed; 0 is any
}

// Key is a row's primary key: the text of each of its columns.
type Key []string

// String is the key as --from and --to take it.
func (k Key) String() string {
	text, err := json.Marshal([]string(k))
	if err != nil {
		return "?"
	}
	return string(text)
}

// id tells keys apart: no text of a key holds a NUL.
func (k Key) id() string { return strings.Join(k, "\x00") }

// Range is a part of a table: keys after From, up to and with To. Nil is no bound.
type Range struct {
	From Key `json:"from"`
	To   Key `json:"to"`
}

// Row is a row as it is stored.
type Row struct {
	Key     Key
	Version string   // another one whenever any of the values has been written over by another
	Values  [][]byte // one of each column; nil for NULL
}

// Change is a row of which some columns shall be sealed, unsealed or sealed anew.
type Change struct {
	Row
	Columns []int // into the table's columns, ascending
}

// Lag is how far a server's standbys are behind.
type Lag struct {
	Standbys int
	Behind   time.Duration // of the slowest
}

// Server is all that the work asks of a kind of database server. There is one
// implementation a protocol. Errors are Transient, a RowError, or final.
type Server interface {
	// Read gives stored rows of a range in the order of their keys: at most limit, and fewer when they are long, but
	// one at least if there is one.
	Read(ctx context.Context, part Range, limit int) ([]Row, error)
	// Get gives the stored rows with these keys that there are.
	Get(ctx context.Context, keys []Key) ([]Row, error)
	// Write makes the changes to rows that nobody has locked and that still have their version, in one transaction. It
	// gives the version that each has since: none for one that was not written.
	Write(ctx context.Context, command Command, changes []Change) (versions []string, err error)
	// Try does what Write does but for changing anything.
	Try(ctx context.Context, command Command, changes []Change) error
	// Estimate is about how many rows a range has.
	Estimate(ctx context.Context, part Range) (int64, error)
	// Boundaries are keys that divide the table into ranges of one size, ascending: at most count-1.
	Boundaries(ctx context.Context, count int) ([]Key, error)
	Lag(ctx context.Context) (Lag, error)
	// Reset drops all connections; what comes next opens new ones.
	Reset()
}

// Transient is an error that may be gone when the same is tried again.
type Transient struct{ Reason string }

func (t *Transient) Error() string { return t.Reason }

// RowError says that some of the rows can not be read or written, and why. It
// names no value.
type RowError struct{ Reason string }

func (e *RowError) Error() string { return e.Reason }
