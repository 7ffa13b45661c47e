package postgres

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// write is a change with its values as parameters in text.
type write struct {
	table.Change
	values [][]byte
	index  int // into the batch
}

// Write makes the changes in one transaction.
func (s *Server) Write(ctx context.Context, command table.Command, changes []table.Change) ([]string, error) {
	written, version, err := s.write(ctx, command, changes, false)
	versions := make([]string, len(written))
	for i, was := range written {
		if was {
			versions[i] = version
		}
	}
	return versions, err
}

// Try has the sidecar check, seal and open every value, and changes nothing.
func (s *Server) Try(ctx context.Context, command table.Command, changes []table.Change) error {
	_, _, err := s.write(ctx, command, changes, true)
	return err
}

func (s *Server) write(ctx context.Context, command table.Command, changes []table.Change, try bool) ([]bool, string, error) {
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return nil, "", err
	}
	defer sidecar.rollback(ctx)
	if err := sidecar.do(ctx, "BEGIN"); err != nil {
		return nil, "", err
	}
	written := make([]bool, len(changes))
	if command == table.Seal {
		writes, err := s.sealing(ctx, sidecar, changes, try)
		if err == nil {
			if try {
				return nil, "", s.update(ctx, sidecar, writes, written)
			}
			err = s.updateAll(ctx, sidecar, writes, written)
		}
		if err != nil {
			return nil, "", err
		}
		version, err := commit(ctx, sidecar)
		return written, version, err
	}
	opened, err := s.open(ctx, sidecar, changes)
	if err != nil || try {
		return nil, "", err
	}
	if command == table.Reseal {
		if err := s.updateAll(ctx, sidecar, opened, written); err != nil {
			return nil, "", err
		}
		version, err := commit(ctx, sidecar)
		return written, version, err
	}
	// Its locks would keep the rows from the other connection.
	sidecar.rollback(ctx)
	version, err := s.unseal(ctx, opened, written)
	return written, version, err
}

// commit ends a transaction, and gives the xmin of what it wrote outside of
// savepoints.
func commit(ctx context.Context, session *session) (string, error) {
	rows, err := session.query(ctx, "SELECT (pg_catalog.txid_current() % 4294967296)::text", nil, nil)
	if err != nil {
		return "", err
	}
	return string(rows[0][0]), session.do(ctx, "COMMIT")
}

// sealing is the plaintexts as the sidecar takes them, of those rows that are
// locked for it now. Nothing waits for a lock, so nothing can take part in a
// deadlock.
func (s *Server) sealing(ctx context.Context, sidecar *session, changes []table.Change, try bool) ([]write, error) {
	var locked []int
	var err error
	if try {
		// A version that no row has: everything is checked and sealed, and nothing written.
		for i := range changes {
			locked = append(locked, i)
		}
	} else if locked, err = s.lock(ctx, sidecar, changes); err != nil {
		return nil, err
	}
	writes := make([]write, 0, len(locked))
	for _, i := range locked {
		one := write{Change: changes[i], index: i}
		if try {
			one.Version = "0"
		}
		declared, err := s.declared(ctx, sidecar, one.Columns)
		if err != nil {
			return nil, err
		}
		for n, column := range one.Columns {
			value := one.Values[column]
			if s.table.columns[column].raw && declared[n] == pgtype.ByteaOID {
				value = hexed(value)
			}
			one.values = append(one.values, value)
		}
		writes = append(writes, one)
	}
	return writes, nil
}

// unseal writes opened values straight to the server, if the rows are still those
// that were opened.
func (s *Server) unseal(ctx context.Context, opened []write, written []bool) (string, error) {
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return "", err
	}
	defer server.rollback(ctx)
	if err := server.do(ctx, "BEGIN"); err != nil {
		return "", err
	}
	changes := make([]table.Change, len(opened))
	for i := range opened {
		changes[i] = opened[i].Change
	}
	locked, err := s.lock(ctx, server, changes)
	if err != nil {
		return "", err
	}
	writes := make([]write, len(locked))
	for i, n := range locked {
		writes[i] = opened[n]
		sidecar, err := s.Connected(ctx, connections.Through)
		if err != nil {
			return "", err
		}
		declared, err := s.declared(ctx, sidecar, writes[i].Columns)
		if err != nil {
			return "", err
		}
		for n, column := range writes[i].Columns {
			// The text of a bytea is in hex already.
			if s.table.columns[column].raw && declared[n] != pgtype.ByteaOID {
				writes[i].values[n] = hexed(writes[i].values[n])
			}
		}
	}
	if err := s.updateAll(ctx, server, writes, written); err != nil {
		return "", err
	}
	return commit(ctx, server)
}

// lock locks those rows that nobody else has locked and that still have their version.
func (s *Server) lock(ctx context.Context, session *session, changes []table.Change) ([]int, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	sql := "SELECT k.n, t.xmin::text FROM " + s.table.sql() + " AS t JOIN " + s.keyRows() + " ON " + s.keyMatch() + " FOR NO KEY UPDATE OF t SKIP LOCKED"
	rows, err := session.query(ctx, sql, s.keyArrays(keysOf(changes)), nil)
	if err != nil {
		return nil, err
	}
	var locked []int
	for _, row := range rows {
		n, err := strconv.Atoi(string(row[0]))
		if err != nil || n < 1 || n > len(changes) {
			return nil, &table.Transient{Reason: session.flag + ": an answer that was not asked for"}
		}
		if string(row[1]) == changes[n-1].Version {
			locked = append(locked, n-1)
		}
	}
	return locked, nil
}

// updateAll writes rows that are locked and have their version.
func (s *Server) updateAll(ctx context.Context, session *session, writes []write, written []bool) error {
	if err := s.update(ctx, session, writes, written); err != nil {
		return err
	}
	for _, one := range writes {
		if !written[one.index] {
			return &table.RowError{Reason: "the server does not write it, though nobody holds it: a trigger or row-level security keeps it as it is"}
		}
	}
	return nil
}

// update writes those rows that still have their version, all at once, and marks
// which.
func (s *Server) update(ctx context.Context, session *session, writes []write, written []bool) error {
	names := make([]string, len(writes))
	for i, one := range writes {
		description, err := session.prepare(ctx, s.updateSQL(one.Columns))
		if err != nil {
			return err
		}
		names[i] = description.Name
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	pipeline := session.conn.StartPipeline(ctx)
	for i, one := range writes {
		parameters := append(append([][]byte{}, one.values...), texts(one.Key...)...)
		pipeline.SendQueryPrepared(names[i], append(parameters, []byte(one.Version)), nil, nil)
	}
	if err := pipeline.Sync(); err != nil {
		pipeline.Close()
		return session.explain(err)
	}
	for _, one := range writes {
		result, err := next(pipeline)
		if err != nil {
			pipeline.Close()
			return session.explain(err)
		}
		written[one.index] = result.RowsAffected() > 0
	}
	if err := pipeline.Close(); err != nil {
		return session.explain(err)
	}
	return nil
}

func (s *Server) updateSQL(columns []int) string {
	number := 0
	next := func(typ string) string { number++; return parameter(number, typ) }
	sets := make([]string, len(columns))
	for i, column := range columns {
		number++
		sets[i] = quote(s.table.columns[column].name) + " = $" + strconv.Itoa(number)
	}
	var where []string
	for i, name := range s.key {
		where = append(where, "t."+quote(name)+" "+s.table.equals[i]+" "+next(s.table.keyTypes[i]))
	}
	where = append(where, "t.xmin = "+next("xid"))
	return "UPDATE " + s.table.sql() + " AS t SET " + strings.Join(sets, ", ") + " WHERE " + strings.Join(where, " AND ")
}

// declared are the types that clients see the columns with.
func (s *Server) declared(ctx context.Context, sidecar *session, columns []int) ([]uint32, error) {
	description, err := sidecar.prepare(ctx, s.updateSQL(columns))
	if err != nil {
		return nil, err
	}
	return description.ParamOIDs[:len(columns)], nil
}

func hexed(value []byte) []byte { return []byte(`\x` + hex.EncodeToString(value)) }

func keysOf(changes []table.Change) []table.Key {
	keys := make([]table.Key, len(changes))
	for i := range changes {
		keys[i] = changes[i].Key
	}
	return keys
}
