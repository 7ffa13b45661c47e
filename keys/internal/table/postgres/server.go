// Package postgres is what the work on tables asks of PostgreSQL: one connection
// straight to the server, which shows what is stored, and one through the sidecar,
// which shows opened values and seals what is written.
//
// A row is told from its later versions by its system column xmin, the transaction
// that wrote it: a key and an xmin name one content, for no two versions that others
// can see come from one transaction.
package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// Server is a table on a PostgreSQL server.
type Server struct {
	connections.Pair[*session]
	database string
	key      []string // the names of the primary key's columns
	table    relation
	lag      lagMeter
}

// Config parses a connection string, or reads PGHOST and the like where it says
// nothing.
func Config(flag, url string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		// The parser's text may quote a password.
		return nil, fault.Input(flag, "not a connection string", "write postgres://USER@HOST:PORT/DATABASE or host=… user=… dbname=…")
	}
	return config, nil
}

// Open connects straight to the server and learns what it says of the table. With
// through it connects through the sidecar as well.
func Open(ctx context.Context, name catalog.Table, direct, through *pgconn.Config) (*Server, error) {
	configs := map[string]*pgconn.Config{connections.Direct: direct, connections.Through: through}
	s := &Server{table: relation{name: name}}
	s.Connect = func(ctx context.Context, side string) (*session, error) {
		session, err := connect(ctx, side, configs[side])
		if err != nil || side == connections.Through {
			return session, err
		}
		if err := s.findOperators(ctx, session); err != nil {
			session.Close()
			return nil, err
		}
		return session, nil
	}
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	if err := s.describe(ctx, session); err != nil {
		return nil, err
	}
	if through == nil {
		return s, nil
	}
	if err := s.RequireOne(ctx, "servers or databases"); err != nil {
		return nil, err
	}
	return s, s.seesAll(ctx)
}

// Database is the table's database as catalogs name it.
func (s *Server) Database() catalog.Database {
	return catalog.Database{Protocol: "postgres", Name: s.database}
}

// Key is the names of the primary key's columns.
func (s *Server) Key() []string { return s.key }

// Use takes the protected columns of the table, and gives them with what the
// server says of them.
func (s *Server) Use(columns []catalog.Column, writes bool) ([]table.Column, error) {
	used := make([]table.Column, len(columns))
	for i, column := range columns {
		stored, err := s.table.stored(column.Name, s.key)
		if err != nil {
			return nil, err
		}
		s.table.columns = append(s.table.columns, stored)
		used[i] = table.Column{Column: column, Raw: stored.raw}
	}
	if writes {
		return used, s.table.writable()
	}
	return used, nil
}

// Prepare refuses triggers that may change what is written, unless they are allowed,
// and has the sidecar judge the statements: a column that is too narrow for its
// envelopes and a policy that forbids to write are told before anything is done.
func (s *Server) Prepare(ctx context.Context, command table.Command, allowTriggers bool) error {
	if !allowTriggers {
		if err := s.unchanged(ctx, command); err != nil {
			return err
		}
	}
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return err
	}
	for i, column := range s.table.columns {
		_, err := sidecar.prepare(ctx, s.updateSQL([]int{i}))
		var said *fault.Fault
		if errors.As(err, &said) && strings.HasPrefix(column.stored, "character varying(") {
			said.Remedy = strings.TrimSuffix(said.Remedy, ".") + ": for one, ALTER TABLE " + s.table.sql() + " ALTER COLUMN " + quote(column.name) + " TYPE text"
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RequireDirect refuses a --direct that leads through a sidecar, which would show values in
// place of what is stored: a sidecar refuses what the server does with any column.
func (s *Server) RequireDirect(ctx context.Context) error {
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return err
	}
	for _, column := range s.table.columns {
		name := "t." + quote(column.name)
		if _, err := server.prepare(ctx, "SELECT "+name+" || "+name+" FROM "+s.table.sql()+" AS t"); err != nil {
			return err
		}
	}
	return nil
}

// seesAll refuses a user of the sidecar from whom rows are hidden: they could not be
// told from rows that others hold.
func (s *Server) seesAll(ctx context.Context) error {
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return err
	}
	rows, err := sidecar.query(ctx, "SELECT pg_catalog.row_security_active($1::oid)::text", texts(s.table.oid), nil)
	if err != nil {
		return err
	}
	if string(rows[0][0]) == "true" {
		return fault.Input("--through", "row-level security hides rows of "+s.table.name.String()+" from its user",
			"let it be the table's owner, or a user with BYPASSRLS")
	}
	return nil
}
