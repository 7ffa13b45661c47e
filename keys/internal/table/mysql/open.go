package mysql

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// open locks rows through the sidecar and reads them opened, in the transaction
// that is open. A column is read only in rows where it shall be changed: another's
// value may be one that can not be read.
func (s *Server) open(ctx context.Context, sidecar *session, changes []table.Change) ([]write, error) {
	locked, err := s.lock(ctx, sidecar, changes)
	if err != nil {
		return nil, err
	}
	groups := map[string][]write{}
	for _, i := range locked {
		name := fmt.Sprint(changes[i].Columns)
		groups[name] = append(groups[name], write{Change: changes[i], index: i})
	}
	var opened []write
	for _, group := range groups {
		for begin := 0; begin < len(group); begin += maxKeys {
			part := group[begin:min(begin+maxKeys, len(group))]
			if err := s.openGroup(ctx, sidecar, part); err != nil {
				return nil, err
			}
			opened = append(opened, part...)
		}
	}
	return opened, nil
}

// openGroup opens rows of which the same columns shall be changed. It probes for masks before the values are read and
// after, so that a policy that changes in between is seen. How long values are is known when they were read once.
func (s *Server) openGroup(ctx context.Context, sidecar *session, group []write) error {
	first, err := s.opened(ctx, sidecar, group)
	if err != nil {
		return err
	}
	if err := s.probe(ctx, sidecar, group[0], first); err != nil {
		return err
	}
	second, err := s.opened(ctx, sidecar, group)
	if err != nil {
		return err
	}
	if err := s.probe(ctx, sidecar, group[0], second); err != nil {
		return err
	}
	for i := range group {
		one := &group[i]
		one.values = second.rows[one.Key.String()]
		if one.values == nil || !equal(one.values, first.rows[one.Key.String()]) {
			return &table.Transient{Reason: sidecar.flag + ": what a locked row shows has changed"}
		}
		for n, column := range one.Columns {
			if one.values[n] == nil || bytes.Equal(one.values[n], one.Values[column]) {
				return connections.ErrNotRevealed(s.table.name, s.table.columns[column].name)
			}
		}
	}
	return nil
}

// shown is what a client sees of rows: by key their values, and the types of these.
type shown struct {
	rows  map[string][][]byte
	types []string
}

// opened reads the columns of the group's rows.
func (s *Server) opened(ctx context.Context, sidecar *session, group []write) (*shown, error) {
	keys := make([]table.Key, len(group))
	for i := range group {
		keys[i] = group[i].Key
	}
	where, parameters := s.among(keys)
	sql := "SELECT " + strings.Join(append(s.shownKey(), s.listed(group[0].Columns)), ", ") + " FROM " + s.table.sql() + " AS t" + where
	rows, err := sidecar.query(ctx, sql, parameters...)
	if err != nil {
		return nil, err
	}
	read := &shown{rows: map[string][][]byte{}, types: sidecar.types[sql][len(s.table.key):]}
	for _, row := range rows {
		key, err := s.keyOf(row)
		if err != nil {
			return nil, err
		}
		read.rows[key.String()] = row[len(key):]
	}
	return read, nil
}

// probe proves that what is read is what is stored, and not a masked form of it,
// which would be written back in its place: it writes values that no mask leaves as
// they are, reads them back, and takes them back. Masks are for characters and dates.
func (s *Server) probe(ctx context.Context, sidecar *session, row write, read *shown) error {
	probe := write{Change: table.Change{Row: row.Row}}
	for n, column := range row.Columns {
		longest := []byte(nil)
		for _, values := range read.rows {
			if utf8.RuneCount(values[n]) > utf8.RuneCount(longest) {
				longest = values[n]
			}
		}
		if value := probeLike(read.types[n], longest); value != nil {
			probe.Columns, probe.values = append(probe.Columns, column), append(probe.values, value)
		}
	}
	if len(probe.Columns) == 0 {
		return nil
	}
	if err := sidecar.do(ctx, "SAVEPOINT fieldveil_probe"); err != nil {
		return err
	}
	if err := s.update(ctx, sidecar, []write{probe}); err != nil {
		return err
	}
	again, err := s.opened(ctx, sidecar, []write{probe})
	if err != nil {
		return err
	}
	values, there := again.rows[probe.Key.String()]
	if !there {
		return &table.Transient{Reason: sidecar.flag + ": a row that is locked was written by others"}
	}
	for n, value := range values {
		if !bytes.Equal(bytes.TrimRight(value, " "), probe.values[n]) {
			return connections.ErrNotRevealed(s.table.name, s.table.columns[probe.Columns[n]].name)
		}
	}
	return sidecar.do(ctx, "ROLLBACK TO SAVEPOINT fieldveil_probe", "RELEASE SAVEPOINT fieldveil_probe")
}

// probeLike is a value that a column takes where a client sees this one: of a date another day, of characters as many
// others. Nil for a type that has no mask, and for what is empty.
func probeLike(typeName string, shown []byte) []byte {
	switch typeName {
	case "DATE", "DATETIME", "TIMESTAMP":
		if len(shown) < len("2006-01-02") {
			return nil
		}
		return []byte(connections.ProbeDate() + string(shown[len("2006-01-02"):]))
	case "CHAR", "VARCHAR", "TEXT", "MEDIUMTEXT", "LONGTEXT", "TINYTEXT":
		count := utf8.RuneCount(shown)
		if count == 0 {
			return nil
		}
		text := rand.Text()
		for len(text) < count {
			text += rand.Text()
		}
		return []byte(text[:count])
	}
	return nil
}

func (s *Server) listed(columns []int) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = "t." + quote(s.table.columns[column].name)
	}
	return strings.Join(names, ", ")
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) || (a[i] == nil) != (b[i] == nil) {
			return false
		}
	}
	return true
}
