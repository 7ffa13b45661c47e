// Command pq is the client of the driver lib/pq, through database/sql.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/lib/pq"

	"github.com/fieldveil/fieldveil/e2e/clients/go/steps"
)

func main() {
	steps.Run(steps.Client[*sql.DB]{
		Name:    "pq",
		Connect: open,
		Close:   func(_ context.Context, db *sql.DB) { _ = db.Close() },
		Steps: map[string]func(context.Context, *sql.DB) error{
			"connect": connect, "write": write, "read": read, "search": search, "update": update, "upsert": upsert,
			"batch": batch, "prepared": prepared, "binary": binary, "transaction": transaction, "null": null,
			"refusal": refusal, "copy_in": copyIn, "copy_out": copyOut,
		},
		SQLState: sqlState,
	})
}

// From the environment. One connection, so that a refusal and what follows are one session.
func open(context.Context) (*sql.DB, error) {
	db, err := sql.Open("postgres", "")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func sqlState(err error) string {
	var server *pq.Error
	if errors.As(err, &server) {
		return string(server.Code)
	}
	// All that database/sql tells of a session that the server ended.
	if errors.Is(err, driver.ErrBadConn) {
		return "08006"
	}
	return ""
}

func connect(ctx context.Context, db *sql.DB) error {
	var user string
	if err := db.QueryRowContext(ctx, "SELECT current_user").Scan(&user); err != nil {
		return err
	}
	return steps.Expect("current_user", user, steps.User)
}

func write(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, steps.Insert, steps.Numbered(10).Values()...)
	return err
}

func read(ctx context.Context, db *sql.DB) error { return readRow(ctx, db, steps.First()) }

func readRow(ctx context.Context, db *sql.DB, wanted steps.Row) error {
	var row steps.Row
	if err := db.QueryRowContext(ctx, steps.Select, wanted.ID).Scan(row.Targets()...); err != nil {
		return err
	}
	return steps.Same(row, wanted)
}

func search(ctx context.Context, db *sql.DB) error {
	var id int64
	for _, each := range []struct{ text, value string }{
		{"SELECT id FROM person WHERE ssn = $1", steps.SSN},
		{"SELECT id FROM person WHERE ref = $1", steps.Ref},
	} {
		if err := db.QueryRowContext(ctx, each.text, each.value).Scan(&id); err != nil {
			return err
		}
		if err := steps.Expect(each.text, id, int64(1)); err != nil {
			return err
		}
	}
	err := db.QueryRowContext(ctx, "SELECT id FROM person WHERE ssn = $1", "no").Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return errors.Join(err, errors.New("found by another"))
	}
	return nil
}

func update(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, steps.Short, 2, steps.SSNFor(2)); err != nil {
		return err
	}
	var id int64
	var email, balance string
	row := db.QueryRowContext(ctx, steps.Update, steps.NewEmail, steps.NewBalance, steps.SSNFor(2))
	if err := row.Scan(&id, &email, &balance); err != nil {
		return err
	}
	return steps.Expect("returned", []any{id, email, balance}, []any{int64(2), steps.NewEmail, steps.NewBalance})
}

func upsert(ctx context.Context, db *sql.DB) error {
	var got string
	for _, email := range []string{"one@example.com", steps.LastEmail} {
		if err := db.QueryRowContext(ctx, steps.Upsert, 3, steps.SSNFor(3), email).Scan(&got); err != nil {
			return err
		}
		if err := steps.Expect("returned", got, email); err != nil {
			return err
		}
	}
	if err := db.QueryRowContext(ctx, "SELECT email FROM person WHERE id = 3").Scan(&got); err != nil {
		return err
	}
	return steps.Expect("email", got, steps.LastEmail)
}

// What database/sql has for many: one statement, prepared, in one transaction.
func batch(ctx context.Context, db *sql.DB) error {
	return putAndGet(ctx, db, steps.FirstOfBatch, steps.LastOfBatch, true)
}

func prepared(ctx context.Context, db *sql.DB) error {
	return putAndGet(ctx, db, steps.FirstOfPrepared, steps.LastOfPrepared, false)
}

func putAndGet(ctx context.Context, db *sql.DB, first, last int64, together bool) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	put, err := tx.PrepareContext(ctx, steps.Short)
	if err != nil {
		return err
	}
	for id := first; id <= last; id++ {
		if _, err := put.ExecContext(ctx, id, steps.SSNFor(id)); err != nil {
			return err
		}
	}
	if together {
		if err := tx.Commit(); err != nil {
			return err
		}
		for id := first; id <= last; id++ {
			if err := expectSSN(ctx, db, id, steps.SSNFor(id)); err != nil {
				return err
			}
		}
		return nil
	}
	get, err := tx.PrepareContext(ctx, steps.SSNOf)
	if err != nil {
		return err
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
	return tx.Commit()
}

// What sql.DB and sql.Tx have both.
type queryer interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func expectSSN(ctx context.Context, db queryer, id int64, wanted string) error {
	var ssn string
	if err := db.QueryRowContext(ctx, steps.SSNOf, id).Scan(&ssn); err != nil {
		return err
	}
	return steps.Expect("ssn", ssn, wanted)
}

func binary(ctx context.Context, _ *sql.DB) error {
	db, err := sql.Open("postgres", "binary_parameters=yes")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, steps.Insert, steps.Numbered(300).Values()...); err != nil {
		return err
	}
	return readRow(ctx, db, steps.Numbered(300))
}

func transaction(ctx context.Context, db *sql.DB) error {
	undone, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = undone.Rollback() }()
	if _, err := undone.ExecContext(ctx, steps.Short, 400, steps.SSNFor(400)); err != nil {
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
	if _, err := kept.ExecContext(ctx, steps.Short, 401, steps.SSNFor(401)); err != nil {
		return err
	}
	if err := kept.Commit(); err != nil {
		return err
	}
	return expectSSN(ctx, db, 401, steps.SSNFor(401))
}

func null(ctx context.Context, db *sql.DB) error {
	text := "INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)"
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
	if err := steps.Expect("SQLSTATE", sqlState(err), steps.Refused); err != nil {
		return err
	}
	return expectSSN(ctx, db, 1, steps.SSN)
}

func copyIn(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	put, err := tx.PrepareContext(ctx, "COPY person (id, name, email, ssn, born) FROM STDIN")
	if err != nil {
		return err
	}
	for _, row := range steps.ToCopy() {
		var born any
		if row.Born != nil {
			born = row.Born.Format(time.DateOnly)
		}
		if _, err := put.ExecContext(ctx, row.ID, row.Name, row.Email, row.SSN, born); err != nil {
			return err
		}
	}
	if _, err := put.ExecContext(ctx); err != nil {
		return err
	}
	if err := errors.Join(put.Close(), tx.Commit()); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, steps.SelectCopied)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var got []steps.Copied
	for rows.Next() {
		var row steps.Copied
		if err := rows.Scan(&row.ID, &row.Name, &row.Email, &row.SSN, &row.Born); err != nil {
			return err
		}
		got = append(got, row)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return steps.SameCopied(got)
}

func copyOut(context.Context, *sql.DB) error {
	return steps.Absent("lib/pq has no COPY TO STDOUT")
}
