package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// open locks rows through the sidecar and reads them opened, in the transaction
// that is open. A column is read only in rows where it shall be changed: another's
// value may be one that can not be read.
func (s *Server) open(ctx context.Context, sidecar *session, changes []table.Change) ([]write, error) {
	groups := map[string][]int{}
	for i := range changes {
		name := fmt.Sprint(changes[i].Columns)
		groups[name] = append(groups[name], i)
	}
	var opened []write
	for _, members := range groups {
		part := make([]table.Change, len(members))
		for n, i := range members {
			part[n] = changes[i]
		}
		writes, err := s.openGroup(ctx, sidecar, part)
		if err != nil {
			return nil, err
		}
		for _, one := range writes {
			one.index = members[one.index]
			opened = append(opened, one)
		}
	}
	return opened, nil
}

// openGroup opens rows of which the same columns shall be changed. It probes for masks
// before the values are read and after, so that a policy that changes in between is seen.
func (s *Server) openGroup(ctx context.Context, sidecar *session, changes []table.Change) ([]write, error) {
	locked, err := s.lock(ctx, sidecar, changes)
	if err != nil || len(locked) == 0 {
		return nil, err
	}
	columns := changes[0].Columns
	sql := "SELECT k.n, t.xmin::text, " + s.listed(columns) + " FROM " + s.table.sql() + " AS t JOIN " + s.keyRows() + " ON " + s.keyMatch() +
		" FOR NO KEY UPDATE OF t SKIP LOCKED"
	description, err := sidecar.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	first := changes[locked[0]]
	if err := s.probe(ctx, sidecar, first, description.Fields[2:]); err != nil {
		return nil, err
	}
	part := make([]table.Change, len(locked))
	for i, n := range locked {
		part[i] = changes[n]
	}
	rows, err := sidecar.query(ctx, sql, s.keyArrays(keysOf(part)), nil)
	if err != nil {
		return nil, err
	}
	var opened []write
	for _, row := range rows {
		n, err := strconv.Atoi(string(row[0]))
		if err != nil || n < 1 || n > len(part) || string(row[1]) != part[n-1].Version {
			return nil, &table.Transient{Reason: sidecar.flag + ": an answer that was not asked for"}
		}
		one := write{Change: part[n-1], index: locked[n-1], values: row[2:]}
		for i, column := range columns {
			if one.values[i] == nil || concealed(one.values[i], one.Values[column]) {
				return nil, connections.ErrNotRevealed(s.table.name, s.table.columns[column].name)
			}
		}
		opened = append(opened, one)
	}
	return opened, s.probe(ctx, sidecar, first, description.Fields[2:])
}

// probe proves that what is read is what is stored, and not a masked form of it,
// which would be written back in its place: it writes a value that no mask leaves as
// it is, reads it back, and takes it back. Masks are for characters and dates.
func (s *Server) probe(ctx context.Context, sidecar *session, row table.Change, fields []pgconn.FieldDescription) error {
	probe := write{Change: table.Change{Row: row.Row}}
	for i, field := range fields {
		if value := probeValue(field.DataTypeOID, field.TypeModifier); value != nil {
			probe.Columns, probe.values = append(probe.Columns, row.Columns[i]), append(probe.values, value)
		}
	}
	if len(probe.Columns) == 0 {
		return nil
	}
	if err := sidecar.do(ctx, "SAVEPOINT fieldveil_probe"); err != nil {
		return err
	}
	if err := s.updateAll(ctx, sidecar, []write{probe}, make([]bool, 1)); err != nil {
		return err
	}
	matches := make([]string, len(s.key))
	for i, name := range s.key {
		matches[i] = "t." + quote(name) + " " + s.table.equals[i] + " " + parameter(i+1, s.table.keyTypes[i])
	}
	sql := "SELECT " + s.listed(probe.Columns) + " FROM " + s.table.sql() + " AS t WHERE " + strings.Join(matches, " AND ")
	rows, err := sidecar.query(ctx, sql, texts(row.Key...), nil)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return &table.Transient{Reason: sidecar.flag + ": a row that is locked was written by others"}
	}
	for i, value := range rows[0] {
		if !bytes.Equal(bytes.TrimRight(value, " "), probe.values[i]) {
			return connections.ErrNotRevealed(s.table.name, s.table.columns[probe.Columns[i]].name)
		}
	}
	// Released, so that what comes is written by the transaction itself.
	return sidecar.do(ctx, "ROLLBACK TO SAVEPOINT fieldveil_probe; RELEASE SAVEPOINT fieldveil_probe")
}

func (s *Server) listed(columns []int) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = "t." + quote(s.table.columns[column].name)
	}
	return strings.Join(names, ", ")
}

// probeValue is a value of a type that can be masked; nil for one that can not.
func probeValue(oid uint32, modifier int32) []byte {
	switch oid {
	case pgtype.TextOID:
		return []byte(rand.Text())
	case pgtype.VarcharOID, pgtype.BPCharOID:
		text := rand.Text()
		if modifier > 4 {
			// The modifier of characters is their number and four.
			text = text[:min(len(text), int(modifier)-4)]
		}
		return []byte(text)
	case pgtype.DateOID:
		return []byte(connections.ProbeDate())
	case pgtype.TimestampOID:
		return []byte(connections.ProbeDate() + " 00:00:00")
	case pgtype.TimestamptzOID:
		return []byte(connections.ProbeDate() + " 00:00:00+00")
	}
	return nil
}

// concealed tells whether what was read is what is stored.
func concealed(read, stored []byte) bool {
	return bytes.Equal(read, stored) || bytes.Equal(read, hexed(stored))
}
