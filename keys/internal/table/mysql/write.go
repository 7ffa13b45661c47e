package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// write is a change with its values as they are to be written.
type write struct {
	table.Change
	values [][]byte
	index  int // into the batch
}

// Write makes the changes in one transaction.
func (s *Server) Write(ctx context.Context, command table.Command, changes []table.Change) ([]string, error) {
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return nil, err
	}
	defer sidecar.rollback(ctx)
	if err := sidecar.begin(ctx); err != nil {
		return nil, err
	}
	if command == table.Seal {
		locked, err := s.lock(ctx, sidecar, changes)
		if err != nil {
			return nil, err
		}
		return s.updateAll(ctx, sidecar, sealing(changes, locked), len(changes))
	}
	opened, err := s.open(ctx, sidecar, changes)
	if err != nil {
		return nil, err
	}
	if command == table.Reseal {
		return s.updateAll(ctx, sidecar, opened, len(changes))
	}
	// Its locks would keep the rows from the other connection.
	sidecar.rollback(ctx)
	return s.unseal(ctx, opened, len(changes))
}

// Try has the sidecar check, seal and open every value, and changes nothing.
func (s *Server) Try(ctx context.Context, command table.Command, changes []table.Change) error {
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return err
	}
	if command != table.Seal {
		defer sidecar.rollback(ctx)
		if err := sidecar.begin(ctx); err != nil {
			return err
		}
		_, err = s.open(ctx, sidecar, changes)
		return err
	}
	all := make([]int, len(changes))
	for i := range all {
		all[i] = i
	}
	for _, one := range sealing(changes, all) {
		// A condition that no row meets: everything is checked and sealed, and nothing written.
		if _, err := sidecar.run(ctx, s.updateSQL(one.Columns, true), one.parameters()...); err != nil {
			return err
		}
	}
	return nil
}

// sealing is the plaintexts of those rows that are locked.
func sealing(changes []table.Change, locked []int) []write {
	writes := make([]write, len(locked))
	for n, i := range locked {
		writes[n] = write{Change: changes[i], index: i}
		for _, column := range changes[i].Columns {
			writes[n].values = append(writes[n].values, changes[i].Values[column])
		}
	}
	return writes
}

// unseal writes opened values straight to the server, if the rows are still those
// that were opened.
func (s *Server) unseal(ctx context.Context, opened []write, count int) ([]string, error) {
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil || len(opened) == 0 {
		return make([]string, count), err
	}
	defer server.rollback(ctx)
	if err := server.begin(ctx); err != nil {
		return nil, err
	}
	keys := make([]table.Key, len(opened))
	for i := range opened {
		keys[i] = opened[i].Key
	}
	rows, err := s.storedRows(ctx, server, keys, " FOR UPDATE SKIP LOCKED")
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	for _, row := range rows {
		now[row.Key.String()] = row.Version
	}
	var writes []write
	for _, one := range opened {
		if now[one.Key.String()] == one.Version {
			writes = append(writes, one)
		}
	}
	if err := s.update(ctx, server, writes); err != nil {
		return nil, err
	}
	// In the transaction itself: what it wrote is seen there.
	rows, err = s.storedRows(ctx, server, keys, "")
	if err != nil {
		return nil, err
	}
	written := map[string]table.Row{}
	for _, row := range rows {
		written[row.Key.String()] = row
	}
	versions, err := versionsOf(writes, written, count)
	if err != nil {
		return nil, err
	}
	return versions, server.commit(ctx)
}

// lock locks those rows that nobody else has locked and that still have their version. Nothing waits for a lock, so
// nothing can take part in a deadlock.
func (s *Server) lock(ctx context.Context, session *session, changes []table.Change) ([]int, error) {
	keys := make([]table.Key, len(changes))
	places := map[string]int{}
	for i, change := range changes {
		keys[i], places[change.Key.String()] = change.Key, i
	}
	var held []table.Key
	for begin := 0; begin < len(keys); begin += maxKeys {
		where, parameters := s.among(keys[begin:min(begin+maxKeys, len(keys))])
		sql := "SELECT " + strings.Join(s.shownKey(), ", ") + " FROM " + s.table.sql() + " AS t" + where + " FOR UPDATE SKIP LOCKED"
		found, err := session.query(ctx, sql, parameters...)
		if err != nil {
			return nil, err
		}
		for _, values := range found {
			key, err := s.keyOf(values)
			if err != nil {
				return nil, err
			}
			held = append(held, key)
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	now, err := s.peek(ctx, held)
	if err != nil {
		return nil, err
	}
	var locked []int
	for _, key := range held {
		if i, asked := places[key.String()]; asked && now[key.String()].Version == changes[i].Version {
			locked = append(locked, i)
		}
	}
	return locked, nil
}

// updateAll writes rows that are locked and have their version, and ends the transaction.
func (s *Server) updateAll(ctx context.Context, session *session, writes []write, count int) ([]string, error) {
	if len(writes) == 0 {
		return make([]string, count), nil
	}
	if err := s.update(ctx, session, writes); err != nil {
		return nil, err
	}
	keys := make([]table.Key, len(writes))
	for i := range writes {
		keys[i] = writes[i].Key
	}
	// Once it is committed others may write them.
	written, err := s.peek(ctx, keys)
	if err != nil {
		return nil, err
	}
	versions, err := versionsOf(writes, written, count)
	if err != nil {
		return nil, err
	}
	return versions, session.commit(ctx)
}

func versionsOf(writes []write, written map[string]table.Row, count int) ([]string, error) {
	versions := make([]string, count)
	for _, one := range writes {
		row, there := written[one.Key.String()]
		if !there {
			return nil, &table.Transient{Reason: connections.Direct + ": a row that is locked was written by others"}
		}
		versions[one.index] = row.Version
	}
	return versions, nil
}

// update writes rows that the transaction has locked.
func (s *Server) update(ctx context.Context, session *session, writes []write) error {
	for _, one := range writes {
		found, err := session.run(ctx, s.updateSQL(one.Columns, false), one.parameters()...)
		if err != nil {
			return err
		}
		if found != 1 {
			return &table.RowError{Reason: "the server does not write it, though nobody holds it"}
		}
	}
	return nil
}

func (w *write) parameters() []any {
	var parameters []any
	for _, value := range w.values {
		parameters = append(parameters, value)
	}
	return append(parameters, keyParameters(w.Key)...)
}

// updateSQL updates one row; nothing, if it is only to be tried.
func (s *Server) updateSQL(columns []int, try bool) string {
	var sets []string
	for _, column := range columns {
		sets = append(sets, "t."+quote(s.table.columns[column].name)+" = ?")
	}
	for _, name := range s.table.kept {
		sets = append(sets, "t."+quote(name)+" = t."+quote(name))
	}
	var where []string
	for _, part := range s.table.key {
		where = append(where, "t."+quote(part.name)+" = "+fmt.Sprintf(part.given, "?"))
	}
	if try {
		where = append(where, "0 = 1")
	}
	return "UPDATE " + s.table.sql() + " AS t SET " + strings.Join(sets, ", ") + " WHERE " + strings.Join(where, " AND ")
}
