// Package database speaks SQL through the drivers that applications use, one connection for each client.
//
// It opens the drivers itself: xk6-sql's query() does not look at what ended its reading of rows, so an answer that
// breaks off would pass for a short one.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
)

// How pgx speaks in each mode.
var modes = map[string]pgx.QueryExecMode{
	"prepared": pgx.QueryExecModeCacheStatement,
	"extended": pgx.QueryExecModeExec,
	"simple":   pgx.QueryExecModeSimpleProtocol,
}

// connector reads a connection string of the driver's.
func connector(name, mode, dsn string) (driver.Connector, error) {
	switch name {
	case "pgx":
		execMode, known := modes[mode]
		if !known {
			return nil, fmt.Errorf("mode %q of the driver pgx: one of prepared, extended, simple", mode)
		}
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return nil, err
		}
		config.DefaultQueryExecMode = execMode
		return stdlib.GetConnector(*config), nil
	case "postgres":
		return pq.NewConnector(dsn)
	case "mysql":
		config, err := mysqlConfig(mode, dsn)
		if err != nil {
			return nil, err
		}
		return mysql.NewConnector(config)
	}
	return nil, fmt.Errorf("driver %q: one of pgx, postgres, mysql", name)
}

// Database is one connection.
type Database struct {
	pool *sql.DB
	conn *sql.Conn
	// How statements go to it.
	statements statements
}

// statements sends a script's SQL with its arguments, which are `$1` and so on.
type statements interface {
	Query(ctx context.Context, text string, arguments []any) (*sql.Rows, error)
	Exec(ctx context.Context, text string, arguments []any) (sql.Result, error)
}

// asTheyAre are statements of a driver that keeps what it has prepared.
type asTheyAre struct {
	conn *sql.Conn
}

func (statements asTheyAre) Query(ctx context.Context, text string, arguments []any) (*sql.Rows, error) {
	return statements.conn.QueryContext(ctx, text, arguments...)
}

func (statements asTheyAre) Exec(ctx context.Context, text string, arguments []any) (sql.Result, error) {
	return statements.conn.ExecContext(ctx, text, arguments...)
}

// Open connects.
func Open(ctx context.Context, name, mode, dsn string) (*Database, error) {
	connector, err := connector(name, mode, dsn)
	if err != nil {
		return nil, fail(err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, fail(err)
	}
	database := &Database{pool, conn, asTheyAre{conn}}
	if name == "mysql" {
		database.statements = &mysqlStatements{conn, mode == "prepared", map[string]*statement{}}
	}
	return database, nil
}

// Close ends the connection.
func (database *Database) Close() error {
	_ = database.conn.Close()
	return fail(database.pool.Close())
}

// Session connects, asks for 1, and closes.
func Session(ctx context.Context, name, mode, dsn string) error {
	database, err := Open(ctx, name, mode, dsn)
	if err != nil {
		return err
	}
	var one int64
	err = fail(database.conn.QueryRowContext(ctx, "SELECT 1").Scan(&one))
	if err == nil && one != 1 {
		err = fmt.Errorf("SELECT 1 gave another number")
	}
	if closing := database.Close(); err == nil {
		err = closing
	}
	return err
}
