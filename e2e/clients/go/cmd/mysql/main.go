// Command mysql is the client of go-sql-driver/mysql, through database/sql: `mysql text|prepared`, by whether the driver
// writes the values into the text or prepares each statement.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/e2e/clients/go/steps"
)

// MySQL has no type for an instant.
const (
	columns = "id, name, ssn, ref, email, born, balance, visits, score, active, made, extra, photo"
	short   = "INSERT INTO person (id, ssn) VALUES (?, ?)"
	ssnOf   = "SELECT ssn FROM person WHERE id = ?"
	refused = "42000"
)

var insert = "INSERT INTO person (" + columns + ") VALUES (?" + strings.Repeat(", ?", 12) + ")"

func main() {
	way := os.Args[1]
	steps.Run(steps.Client[*sql.DB]{
		Name:    "go-mysql-" + way,
		Connect: func(context.Context) (*sql.DB, error) { return open(way) },
		Close:   func(_ context.Context, db *sql.DB) { _ = db.Close() },
		Steps: map[string]func(context.Context, *sql.DB) error{
			"connect": connect, "write": write, "read": read, "search": search, "update": update, "upsert": upsert,
			"batch": batch, "prepared": prepared, "binary": binary(way), "transaction": transaction, "null": null,
			"refusal": refusal, "copy_in": none, "copy_out": none,
		},
		SQLState: sqlState,
	})
}

// From the environment. One connection, so that a refusal and what follows are one session.
func open(way string) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", net.JoinHostPort(os.Getenv("MYSQL_HOST"), os.Getenv("MYSQL_PORT"))
	config.User, config.Passwd = os.Getenv("MYSQL_USER"), os.Getenv("MYSQL_PASSWORD")
	config.DBName, config.ParseTime, config.InterpolateParams = os.Getenv("MYSQL_DATABASE"), true, way == "text"
	if file := os.Getenv("MYSQL_CA"); file != "" {
		authority, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		config.TLS = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: os.Getenv("MYSQL_HOST")}
		config.TLS.RootCAs.AppendCertsFromPEM(authority)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

func sqlState(err error) string {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return string(server.SQLState[:])
	}
	return ""
}

func connect(ctx context.Context, db *sql.DB) error {
	var user string
	if err := db.QueryRowContext(ctx, "SELECT CURRENT_USER()").Scan(&user); err != nil {
		return err
	}
	name, _, _ := strings.Cut(user, "@")
	return steps.Expect("current_user", name, steps.User)
}

func writeRow(ctx context.Context, db *sql.DB, row steps.Row) error {
	_, err := db.ExecContext(ctx, insert, row.ID, row.Name, row.SSN, row.Ref, row.Email, row.Born.Format(time.DateOnly),
		row.Balance, row.Visits, row.Score, row.Active, row.Made, []byte(row.Extra), row.Photo)
	return err
}

func readRow(ctx context.Context, db *sql.DB, wanted steps.Row) error {
	got := steps.Row{Seen: wanted.Seen}
	err := db.QueryRowContext(ctx, "SELECT "+columns+" FROM person WHERE id = ?", wanted.ID).Scan(
		&got.ID, &got.Name, &got.SSN, &got.Ref, &got.Email, &got.Born, &got.Balance, &got.Visits, &got.Score, &got.Active,
		&got.Made, (*[]byte)(&got.Extra), &got.Photo)
	if err != nil {
		return err
	}
	if !json.Valid(got.Extra) {
		return fmt.Errorf("extra is no JSON")
	}
	return steps.Same(got, wanted)
}

func write(ctx context.Context, db *sql.DB) error { return writeRow(ctx, db, steps.Numbered(10)) }

func read(ctx context.Context, db *sql.DB) error { return readRow(ctx, db, steps.First()) }

func search(ctx context.Context, db *sql.DB) error {
	var id int64
	for _, each := range []struct{ text, value string }{
		{"SELECT id FROM person WHERE ssn = ?", steps.SSN},
		{"SELECT id FROM person WHERE ref = ?", steps.Ref},
	} {
		if err := db.QueryRowContext(ctx, each.text, each.value).Scan(&id); err != nil {
			return err
		}
		if err := steps.Expect(each.text, id, int64(1)); err != nil {
			return err
		}
	}
	err := db.QueryRowContext(ctx, "SELECT id FROM person WHERE ssn = ?", "no").Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return errors.Join(err, errors.New("found by another"))
	}
	return nil
}

func update(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, short, 2, steps.SSNFor(2)); err != nil {
		return err
	}
	text := "UPDATE person SET email = ?, balance = ? WHERE ssn = ?"
	if _, err := db.ExecContext(ctx, text, steps.NewEmail, steps.NewBalance, steps.SSNFor(2)); err != nil {
		return err
	}
	var email, balance string
	if err := db.QueryRowContext(ctx, "SELECT email, balance FROM person WHERE id = 2").Scan(&email, &balance); err != nil {
		return err
	}
	return steps.Expect("read again", []string{email, balance}, []string{steps.NewEmail, steps.NewBalance})
}

func upsert(ctx context.Context, db *sql.DB) error {
	text := "INSERT INTO person (id, ssn, email) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE email = VALUES(email)"
	for _, email := range []string{"one@example.com", steps.LastEmail} {
		if _, err := db.ExecContext(ctx, text, 3, steps.SSNFor(3), email); err != nil {
			return err
		}
	}
	var got string
	if err := db.QueryRowContext(ctx, "SELECT email FROM person WHERE id = 3").Scan(&got); err != nil {
		return err
	}
	return steps.Expect("email", got, steps.LastEmail)
}

// What database/sql has for many: one statement, prepared.
func batch(ctx context.Context, db *sql.DB) error {
	return putAndGet(ctx, db, steps.FirstOfBatch, steps.LastOfBatch)
}

func prepared(ctx context.Context, db *sql.DB) error {
	return putAndGet(ctx, db, steps.FirstOfPrepared, steps.LastOfPrepared)
}

func putAndGet(ctx context.Context, db *sql.DB, first, last int64) error {
	put, err := db.PrepareContext(ctx, short)
	if err != nil {
		return err
	}
	defer func() { _ = put.Close() }()
	get, err := db.PrepareContext(ctx, ssnOf)
	if err != nil {
		return err
	}
	defer func() { _ = get.Close() }()
	for id := first; id <= last; id++ {
		if _, err := put.ExecContext(ctx, id, steps.SSNFor(id)); err != nil {
			return err
		}
	}
	for id := first; id <= last; id++ {
		var ssn string
		if err := get.QueryRowContext(ctx, id).Scan(&ssn); err != nil {
			return err
		}
		if err := steps.Expect("ssn", ssn, steps.SSNFor(id)); err != nil {
			return err
		}
	}
	return nil
}

func binary(way string) func(context.Context, *sql.DB) error {
	return func(ctx context.Context, db *sql.DB) error {
		if way == "text" {
			return steps.Absent("the binary protocol is that of prepared statements")
		}
		if err := writeRow(ctx, db, steps.Numbered(300)); err != nil {
			return err
		}
		return readRow(ctx, db, steps.Numbered(300))
	}
}

// What sql.DB and sql.Tx have both.
type queryer interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func expectSSN(ctx context.Context, db queryer, id int64, wanted string) error {
	var ssn string
	if err := db.QueryRowContext(ctx, ssnOf, id).Scan(&ssn); err != nil {
		return err
	}
	return steps.Expect("ssn", ssn, wanted)
}

func transaction(ctx context.Context, db *sql.DB) error {
	undone, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = undone.Rollback() }()
	if _, err := undone.ExecContext(ctx, short, 400, steps.SSNFor(400)); err != nil {
		return err
	}
	if err := expectSSN(ctx, undone, 400, steps.SSNFor(400)); err != nil {
		return err
	}
	if err := undone.Rollback(); err != nil {
		return err
	}
	if err := expectSSN(ctx, db, 400, ""); !errors.Is(err, sql.ErrNoRows) {
		return errors.New("the row is there after the rollback")
	}
	kept, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Rollback() }()
	if _, err := kept.ExecContext(ctx, short, 401, steps.SSNFor(401)); err != nil {
		return err
	}
	if err := kept.Commit(); err != nil {
		return err
	}
	return expectSSN(ctx, db, 401, steps.SSNFor(401))
}

func null(ctx context.Context, db *sql.DB) error {
	text := "INSERT INTO person (id, ssn, email, born) VALUES (500, ?, ?, ?)"
	if _, err := db.ExecContext(ctx, text, nil, "", nil); err != nil {
		return err
	}
	var ssn, email sql.NullString
	var born sql.NullTime
	row := db.QueryRowContext(ctx, "SELECT ssn, email, born FROM person WHERE id = 500")
	if err := row.Scan(&ssn, &email, &born); err != nil {
		return err
	}
	return steps.Expect("NULL, empty, NULL", []any{ssn.Valid, email, born.Valid},
		[]any{false, sql.NullString{Valid: true}, false})
}

func refusal(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, steps.OrderBySSN)
	if err == nil {
		_ = rows.Close()
	}
	if err := steps.Expect("SQLSTATE", sqlState(err), refused); err != nil {
		return err
	}
	return expectSSN(ctx, db, 1, steps.SSN)
}

func none(context.Context, *sql.DB) error { return steps.Absent("MySQL has no COPY") }
