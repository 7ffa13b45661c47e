package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// What ends a cell and a row in a digest, and what stands for NULL.
const (
	cellEnd = 0x1f
	rowEnd  = '\n'
	null    = 0x00
)

// Rows is a whole answer.
type Rows struct {
	Columns []string
	// nil, bool, int64, float64 or string.
	Cells [][]any
}

// Exec gives the number of rows that a statement changed.
func (database *Database) Exec(ctx context.Context, statement string, arguments []any) (int64, error) {
	done, err := database.statements.Exec(ctx, statement, arguments)
	if err != nil {
		return 0, fail(err)
	}
	changed, err := done.RowsAffected()
	return changed, fail(err)
}

// Query reads an answer to its end.
func (database *Database) Query(ctx context.Context, statement string, arguments []any) (Rows, error) {
	rows, err := database.statements.Query(ctx, statement, arguments)
	if err != nil {
		return Rows{}, fail(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return Rows{}, fail(err)
	}
	found := Rows{Columns: columns}
	targets := make([]any, len(columns))
	for rows.Next() {
		cells := make([]any, len(columns))
		for i := range cells {
			targets[i] = &cells[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return Rows{}, fail(err)
		}
		for i, cell := range cells {
			cells[i] = plain(cell, rows, i)
		}
		found.Cells = append(found.Cells, cells)
	}
	// The server may refuse, or the connection end, in the midst of an answer.
	if err := rows.Err(); err != nil {
		return Rows{}, fail(err)
	}
	return found, nil
}

// plain gives the few types of Rows, the same with every driver.
func plain(cell any, rows *sql.Rows, column int) any {
	switch value := cell.(type) {
	case []byte:
		switch typeName(rows, column) {
		case "BYTEA", "BLOB", "BINARY", "VARBINARY":
			return `\x` + hex.EncodeToString(value)
		}
		return string(value)
	case time.Time:
		switch typeName(rows, column) {
		case "DATE":
			return value.Format("2006-01-02")
		case "TIME":
			return value.Format("15:04:05.999999")
		case "TIMESTAMP":
			return value.Format("2006-01-02 15:04:05.999999")
		}
		return value.UTC().Format("2006-01-02 15:04:05.999999+00")
	}
	return cell
}

func typeName(rows *sql.Rows, column int) string {
	types, err := rows.ColumnTypes()
	if err != nil {
		return ""
	}
	return types[column].DatabaseTypeName()
}

// Digest reads an answer to its end and gives the number of its rows and SHA-256 over the named columns' cells, or all:
// each cell's text and 0x1F, NULL as 0x00 before it, and 0x0A after each row.
func (database *Database) Digest(
	ctx context.Context, statement string, names []string, arguments []any,
) (int64, string, error) {
	rows, err := database.statements.Query(ctx, statement, arguments)
	if err != nil {
		return 0, "", fail(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, "", fail(err)
	}
	order, err := positions(columns, names)
	if err != nil {
		return 0, "", err
	}
	cells := make([]sql.RawBytes, len(columns))
	targets := make([]any, len(columns))
	for i := range cells {
		targets[i] = &cells[i]
	}
	var count int64
	var line []byte
	digest := sha256.New()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return 0, "", fail(err)
		}
		line = line[:0]
		for _, position := range order {
			if cells[position] == nil {
				line = append(line, null)
			}
			line = append(append(line, cells[position]...), cellEnd)
		}
		digest.Write(append(line, rowEnd))
		count++
	}
	if err := rows.Err(); err != nil {
		return 0, "", fail(err)
	}
	return count, hex.EncodeToString(digest.Sum(nil)), nil
}

// positions says where the named columns stand in an answer; without names, all in order.
func positions(columns, names []string) ([]int, error) {
	if len(names) == 0 {
		names = columns
	}
	found := make([]int, len(names))
	for i, name := range names {
		found[i] = slices.Index(columns, name)
		if found[i] < 0 {
			return nil, fmt.Errorf("the answer has no column %s: name those that the statement selects", name)
		}
	}
	return found, nil
}
