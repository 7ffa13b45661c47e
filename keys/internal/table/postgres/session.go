package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxWait is how long one answer may take before the connection counts as lost.
const maxWait = 5 * time.Minute

// settings make keys read the same in every session, and let batches find their
// rows by the primary key whatever the statistics say. A wait for somebody else's
// lock ends before the server would look for a deadlock and end the other's
// transaction.
var settings = map[string]string{
	"application_name": "fieldveil table",
	"client_encoding":  "UTF8",
	"DateStyle":        "ISO",
	"IntervalStyle":    "postgres",
	"TimeZone":         "UTC",
	"bytea_output":     "hex",
	// Keys that are floating point are read as they are.
	"extra_float_digits": "1",
	"lock_timeout":       "500ms",
	// A transaction that saw one picture from begin to end would not see what others wrote meanwhile.
	"default_transaction_isolation": "read committed",
	"enable_seqscan":                "off",
	"enable_hashjoin":               "off",
	"enable_mergejoin":              "off",
	"jit":                           "off",
}

// session is one connection.
type session struct {
	conn     *pgconn.PgConn
	flag     string
	prepared map[string]*pgconn.StatementDescription
}

func connect(ctx context.Context, flag string, config *pgconn.Config) (*session, error) {
	config = config.Copy()
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 15 * time.Second
	}
	for name, value := range settings {
		if _, told := config.RuntimeParams[name]; !told || name == "client_encoding" || name == "extra_float_digits" {
			config.RuntimeParams[name] = value
		}
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, notConnected(flag, err)
	}
	return &session{conn: conn, flag: flag, prepared: map[string]*pgconn.StatementDescription{}}, nil
}

// Close gives the connection up.
func (s *session) Close() {
	// A broken connection would wait for an answer to its farewell.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.conn.Close(ctx)
}

// Identity tells the server and its database from all others.
func (s *session) Identity(ctx context.Context) (string, error) {
	rows, err := s.query(ctx, "SELECT pg_catalog.current_database()::text || ' ' || pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::text", nil, nil)
	if err != nil {
		return "", err
	}
	return string(rows[0][0]), nil
}

// prepare prepares a text once a session.
func (s *session) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if known := s.prepared[sql]; known != nil {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	description, err := s.conn.Prepare(ctx, "fieldveil_"+strconv.Itoa(len(s.prepared)+1), sql, nil)
	if err != nil {
		return nil, s.explain(err)
	}
	s.prepared[sql] = description
	return description, nil
}

// query gives all rows. Parameters are text; formats are of the results.
func (s *session) query(ctx context.Context, sql string, parameters [][]byte, formats []int16) ([][][]byte, error) {
	return s.queryUpTo(ctx, sql, parameters, formats, math.MaxInt)
}

// queryUpTo gives rows until they have so many bytes, and passes over the others.
func (s *session) queryUpTo(ctx context.Context, sql string, parameters [][]byte, formats []int16, limit int) ([][][]byte, error) {
	description, err := s.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	var rows [][][]byte
	size := 0
	reader := s.conn.ExecPrepared(ctx, description.Name, parameters, nil, formats)
	for reader.NextRow() {
		if size >= limit {
			continue
		}
		row := make([][]byte, len(reader.Values()))
		for i, value := range reader.Values() {
			row[i] = bytes.Clone(value)
			size += len(value)
		}
		rows = append(rows, row)
	}
	if _, err := reader.Close(); err != nil {
		return nil, s.explain(err)
	}
	return rows, nil
}

// do runs a statement that has no rows and no parameters.
func (s *session) do(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if _, err := s.conn.Exec(ctx, sql).ReadAll(); err != nil {
		return s.explain(err)
	}
	return nil
}

// next is what the next statement of a pipeline did.
func next(pipeline *pgconn.Pipeline) (pgconn.CommandTag, error) {
	result, err := pipeline.GetResults()
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	reader, ok := result.(*pgconn.ResultReader)
	if !ok {
		return pgconn.CommandTag{}, errors.New("an answer that was not asked for")
	}
	return reader.Close()
}

// rollback ends a transaction, if one is open.
func (s *session) rollback(ctx context.Context) {
	if !s.conn.IsClosed() && s.conn.TxStatus() != 'I' {
		// What fails here fails again, and is told, with the next statement.
		_ = s.do(ctx, "ROLLBACK")
	}
}
