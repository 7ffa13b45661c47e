// Package mysql is what the work on tables asks of MySQL and MariaDB: one connection
// straight to the server, which shows what is stored, and one through the sidecar,
// which shows opened values and seals what is written.
//
// These servers show no version of a row. A row's version is a digest of what is
// stored in the columns that are worked on: nothing else of a row is written.
// Whether a row still has its version is seen while it is locked.
package mysql

import (
	"context"
	"errors"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// Server is a table on a MySQL or MariaDB server.
type Server struct {
	connections.Pair[*session]
	table relation
}

// Open connects straight to the server and learns what it says of the table. With
// through it connects through the sidecar as well.
func Open(ctx context.Context, name catalog.Table, direct, through *driver.Config) (*Server, error) {
	configs := map[string]*driver.Config{connections.Direct: direct, connections.Through: through}
	s := &Server{table: relation{name: name}}
	s.Connect = func(ctx context.Context, side string) (*session, error) { return connect(ctx, side, configs[side]) }
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
	return s, s.RequireOne(ctx, "servers")
}

// Database is the table's database as catalogs name it.
func (s *Server) Database() catalog.Database {
	return catalog.Database{Protocol: "mysql", Name: s.table.name.Schema}
}

// Key is the names of the primary key's columns.
func (s *Server) Key() []string {
	names := make([]string, len(s.table.key))
	for i, part := range s.table.key {
		names[i] = part.name
	}
	return names
}

// Use takes the protected columns of the table, and gives them with what the
// server says of them.
func (s *Server) Use(columns []catalog.Column, writes bool) ([]table.Column, error) {
	used := make([]table.Column, len(columns))
	for i, column := range columns {
		stored, err := s.table.stored(column.Name)
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
func (s *Server) Prepare(ctx context.Context, _ table.Command, allowTriggers bool) error {
	if !allowTriggers && len(s.table.triggers) > 0 {
		return s.table.changedByTriggers()
	}
	sidecar, err := s.Connected(ctx, connections.Through)
	if err != nil {
		return err
	}
	for i, column := range s.table.columns {
		err := sidecar.check(ctx, s.updateSQL([]int{i}, false))
		var said *fault.Fault
		if errors.As(err, &said) && column.characters > 0 {
			said.Remedy += ": for one, ALTER TABLE " + s.table.sql() + " MODIFY " + quote(column.name) + " " + column.wider()
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
		if err := server.check(ctx, "SELECT CONCAT("+name+", "+name+") FROM "+s.table.sql()+" AS t"); err != nil {
			return err
		}
	}
	return nil
}

// Lag is not told by these servers: a replica alone knows how far it is behind.
func (s *Server) Lag(context.Context) (table.Lag, error) {
	return table.Lag{}, fault.Input("--max-lag", "this server does not know how far its replicas are behind",
		"leave it out, and give --max-rows-per-second a number that they keep up with")
}
