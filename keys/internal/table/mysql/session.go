package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxWait is how long one answer may take before the connection counts as lost.
const maxWait = 5 * time.Minute

// settings make keys and values read the same in every session, and the server err where it would cut a value. A wait
// for somebody else's lock ends soon. A transaction that saw one picture from begin to end would not see what others
// wrote meanwhile.
var settings = []string{
	"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	"SET SESSION time_zone = '+00:00'",
	"SET SESSION innodb_lock_wait_timeout = 1",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
}

// session is one connection.
type session struct {
	pool *sql.DB
	conn *sql.Conn
	flag string
	// open says that a transaction is open.
	open     bool
	mariadb  bool
	prepared map[string]*sql.Stmt
	types    map[string][]string // of the results of texts
}

func connect(ctx context.Context, flag string, config *driver.Config) (*session, error) {
	config = config.Clone()
	if config.Timeout == 0 {
		config.Timeout = 15 * time.Second
	}
	// An update that leaves a row as it is has found it.
	config.ClientFoundRows = true
	config.Logger = &driver.NopLogger{}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, fault.Input(flag, "the URL can not be used", "write mysql://USER@HOST:PORT/DATABASE; tls is true, skip-verify or preferred")
	}
	pool := sql.OpenDB(connector)
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, notConnected(flag, err)
	}
	s := &session{pool: pool, conn: conn, flag: flag, prepared: map[string]*sql.Stmt{}, types: map[string][]string{}}
	if err := s.do(ctx, settings...); err != nil {
		s.Close()
		return nil, err
	}
	version, err := s.query(ctx, "SELECT VERSION()")
	if err != nil {
		s.Close()
		return nil, err
	}
	s.mariadb = strings.Contains(string(version[0][0]), "MariaDB")
	return s, nil
}

// Close gives the connection up.
func (s *session) Close() {
	// Nothing can be done about an error here: both are given up.
	_ = s.conn.Close()
	_ = s.pool.Close()
}

// Identity tells the server from all others.
func (s *session) Identity(ctx context.Context) (string, error) {
	rows, err := s.query(ctx, "SELECT CONCAT_WS('|', @@hostname, @@port, @@datadir, @@pid_file, @@server_id)")
	if err != nil {
		return "", err
	}
	return string(rows[0][0]), nil
}

// prepare prepares a text once a session.
func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if known := s.prepared[text]; known != nil {
		return known, nil
	}
	prepared, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, s.explain(err)
	}
	s.prepared[text] = prepared
	return prepared, nil
}

// check has the server, or the sidecar, judge a text.
func (s *session) check(ctx context.Context, text string) error {
	_, err := s.prepare(ctx, text)
	return err
}

// query gives all rows.
func (s *session) query(ctx context.Context, text string, parameters ...any) ([][][]byte, error) {
	return s.queryUpTo(ctx, math.MaxInt, text, parameters)
}

// queryUpTo gives rows until they have so many bytes, and passes over the others.
func (s *session) queryUpTo(ctx context.Context, limit int, text string, parameters []any) ([][][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	prepared, err := s.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	found, err := prepared.QueryContext(ctx, parameters...)
	if err != nil {
		return nil, s.explain(err)
	}
	defer found.Close()
	columns, err := found.ColumnTypes()
	if err != nil {
		return nil, s.explain(err)
	}
	types := make([]string, len(columns))
	for i, column := range columns {
		types[i] = column.DatabaseTypeName()
	}
	s.types[text] = types
	var rows [][][]byte
	size := 0
	for found.Next() {
		if size >= limit {
			continue
		}
		raw := make([]sql.RawBytes, len(columns))
		places := make([]any, len(columns))
		for i := range raw {
			places[i] = &raw[i]
		}
		if err := found.Scan(places...); err != nil {
			return nil, s.explain(err)
		}
		row := make([][]byte, len(columns))
		for i, value := range raw {
			row[i] = bytes.Clone(value)
			size += len(value)
		}
		rows = append(rows, row)
	}
	if err := found.Err(); err != nil {
		return nil, s.explain(err)
	}
	return rows, nil
}

// run executes a statement without rows, and tells how many rows it found.
func (s *session) run(ctx context.Context, text string, parameters ...any) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	prepared, err := s.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := prepared.ExecContext(ctx, parameters...)
	if err != nil {
		return 0, s.explain(err)
	}
	count, err := result.RowsAffected()
	if err != nil {
		return 0, s.explain(err)
	}
	return count, nil
}

// do runs statements that are not prepared.
func (s *session) do(ctx context.Context, texts ...string) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for _, text := range texts {
		if _, err := s.conn.ExecContext(ctx, text); err != nil {
			return s.explain(err)
		}
	}
	return nil
}

func (s *session) begin(ctx context.Context) error {
	if err := s.do(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	s.open = true
	return nil
}

func (s *session) commit(ctx context.Context) error {
	s.open = false
	return s.do(ctx, "COMMIT")
}

// rollback ends a transaction, if one is open.
func (s *session) rollback(ctx context.Context) {
	if s.open {
		s.open = false
		// What fails here fails again, and is told, with the next statement.
		_ = s.do(ctx, "ROLLBACK")
	}
}
