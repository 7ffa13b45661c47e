// Command pgx is the client of the driver pgx, in its default mode: statements prepared and cached by name.
package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/fieldveil/fieldveil/e2e/clients/go/steps"
)

func main() {
	steps.Run(steps.Client[*pgx.Conn]{
		Name: "pgx",
		// From the environment.
		Connect: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, "") },
		Close:   func(ctx context.Context, conn *pgx.Conn) { _ = conn.Close(ctx) },
		Steps: map[string]func(context.Context, *pgx.Conn) error{
			"connect": connect, "write": write, "read": read, "search": search, "update": update, "upsert": upsert,
			"batch": batch, "prepared": prepared, "binary": binary, "transaction": transaction, "null": null,
			"refusal": refusal, "copy_in": copyIn, "copy_out": copyOut,
		},
		SQLState: sqlState,
	})
}

func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

func connect(ctx context.Context, conn *pgx.Conn) error {
	var user string
	if err := conn.QueryRow(ctx, "SELECT current_user").Scan(&user); err != nil {
		return err
	}
	return steps.Expect("current_user", user, steps.User)
}

func write(ctx context.Context, conn *pgx.Conn) error { return insert(ctx, conn, 10) }

func insert(ctx context.Context, conn *pgx.Conn, id int64) error {
	row := steps.Numbered(id)
	balance, err := numeric(row.Balance)
	if err != nil {
		return err
	}
	values := row.Values()
	values[6] = balance
	_, err = conn.Exec(ctx, steps.Insert, values...)
	return err
}

func numeric(text string) (pgtype.Numeric, error) {
	var number pgtype.Numeric
	return number, number.Scan(text)
}

func textOf(number pgtype.Numeric) (string, error) {
	value, err := number.Value()
	if err != nil {
		return "", err
	}
	return value.(string), nil
}

func read(ctx context.Context, conn *pgx.Conn) error { return readRow(ctx, conn, steps.First()) }

func readRow(ctx context.Context, conn *pgx.Conn, wanted steps.Row) error {
	var row steps.Row
	var balance pgtype.Numeric
	targets := row.Targets()
	targets[6] = &balance
	if err := conn.QueryRow(ctx, steps.Select, wanted.ID).Scan(targets...); err != nil {
		return err
	}
	var err error
	if row.Balance, err = textOf(balance); err != nil {
		return err
	}
	return steps.Same(row, wanted)
}

func search(ctx context.Context, conn *pgx.Conn) error {
	for _, each := range []struct {
		text, value string
		wanted      []int64
	}{
		{"SELECT id FROM person WHERE ssn = $1", steps.SSN, []int64{1}},
		{"SELECT id FROM person WHERE ref = $1", steps.Ref, []int64{1}},
		{"SELECT id FROM person WHERE ssn = $1", "no", []int64{}},
	} {
		rows, err := conn.Query(ctx, each.text, each.value)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		if err := steps.Expect(each.text, ids, each.wanted); err != nil {
			return err
		}
	}
	return nil
}

func update(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, steps.Short, 2, steps.SSNFor(2)); err != nil {
		return err
	}
	sent, err := numeric(steps.NewBalance)
	if err != nil {
		return err
	}
	var id int64
	var email string
	var got pgtype.Numeric
	if err := conn.QueryRow(ctx, steps.Update, steps.NewEmail, sent, steps.SSNFor(2)).Scan(&id, &email, &got); err != nil {
		return err
	}
	balance, err := textOf(got)
	if err != nil {
		return err
	}
	return steps.Expect("returned", []any{id, email, balance}, []any{int64(2), steps.NewEmail, steps.NewBalance})
}

func upsert(ctx context.Context, conn *pgx.Conn) error {
	var got string
	for _, email := range []string{"one@example.com", steps.LastEmail} {
		if err := conn.QueryRow(ctx, steps.Upsert, 3, steps.SSNFor(3), email).Scan(&got); err != nil {
			return err
		}
		if err := steps.Expect("returned", got, email); err != nil {
			return err
		}
	}
	if err := conn.QueryRow(ctx, "SELECT email FROM person WHERE id = 3").Scan(&got); err != nil {
		return err
	}
	return steps.Expect("email", got, steps.LastEmail)
}

// One Sync for all: writes first, then reads.
func batch(ctx context.Context, conn *pgx.Conn) error {
	var all pgx.Batch
	for id := int64(steps.FirstOfBatch); id <= steps.LastOfBatch; id++ {
		all.Queue(steps.Short, id, steps.SSNFor(id))
	}
	for id := int64(steps.FirstOfBatch); id <= steps.LastOfBatch; id++ {
		all.Queue(steps.SSNOf, id).QueryRow(func(row pgx.Row) error {
			var ssn string
			if err := row.Scan(&ssn); err != nil {
				return err
			}
			return steps.Expect("ssn", ssn, steps.SSNFor(id))
		})
	}
	return conn.SendBatch(ctx, &all).Close()
}

func prepared(ctx context.Context, conn *pgx.Conn) error {
	for name, text := range map[string]string{"put": steps.Short, "get": steps.SSNOf} {
		if _, err := conn.Prepare(ctx, name, text); err != nil {
			return err
		}
	}
	for id := int64(steps.FirstOfPrepared); id <= steps.LastOfPrepared; id++ {
		if _, err := conn.Exec(ctx, "put", id, steps.SSNFor(id)); err != nil {
			return err
		}
	}
	for id := int64(steps.FirstOfPrepared); id <= steps.LastOfPrepared; id++ {
		if err := expectSSN(ctx, conn, "get", id, steps.SSNFor(id)); err != nil {
			return err
		}
	}
	return nil
}

func expectSSN(ctx context.Context, conn *pgx.Conn, text string, id int64, wanted string) error {
	var ssn string
	if err := conn.QueryRow(ctx, text, id).Scan(&ssn); err != nil {
		return err
	}
	return steps.Expect("ssn", ssn, wanted)
}

// pgx sends and reads binary wherever a type has it.
func binary(ctx context.Context, conn *pgx.Conn) error {
	if err := insert(ctx, conn, 300); err != nil {
		return err
	}
	return readRow(ctx, conn, steps.Numbered(300))
}

func transaction(ctx context.Context, conn *pgx.Conn) error {
	undone, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := undone.Exec(ctx, steps.Short, 400, steps.SSNFor(400)); err != nil {
		return err
	}
	if err := expectSSN(ctx, conn, steps.SSNOf, 400, steps.SSNFor(400)); err != nil {
		return err
	}
	if err := undone.Rollback(ctx); err != nil {
		return err
	}
	if err := expectSSN(ctx, conn, steps.SSNOf, 400, ""); !errors.Is(err, pgx.ErrNoRows) {
		return errors.New("the row is there after the rollback")
	}
	err = pgx.BeginFunc(ctx, conn, func(kept pgx.Tx) error {
		_, err := kept.Exec(ctx, steps.Short, 401, steps.SSNFor(401))
		return err
	})
	if err != nil {
		return err
	}
	return expectSSN(ctx, conn, steps.SSNOf, 401, steps.SSNFor(401))
}

func null(ctx context.Context, conn *pgx.Conn) error {
	text := "INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)"
	if _, err := conn.Exec(ctx, text, nil, "", nil); err != nil {
		return err
	}
	var ssn, email *string
	var born pgtype.Date
	if err := conn.QueryRow(ctx, "SELECT ssn, email, born FROM person WHERE id = 500").Scan(&ssn, &email, &born); err != nil {
		return err
	}
	if ssn != nil || email == nil || *email != "" || born.Valid {
		return errors.New("wrong NULL or empty string")
	}
	return nil
}

func refusal(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, steps.OrderBySSN)
	if err := steps.Expect("SQLSTATE", sqlState(err), steps.Refused); err != nil {
		return err
	}
	return expectSSN(ctx, conn, steps.SSNOf, 1, steps.SSN)
}

// pgx copies in binary, and asks for the columns' types by preparing a SELECT of them.
func copyIn(ctx context.Context, conn *pgx.Conn) error {
	rows := pgx.CopyFromSlice(len(steps.ToCopy()), func(number int) ([]any, error) {
		row := steps.ToCopy()[number]
		return []any{row.ID, row.Name, row.Email, row.SSN, row.Born}, nil
	})
	columns := []string{"id", "name", "email", "ssn", "born"}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"person"}, columns, rows); err != nil {
		return err
	}
	read, err := conn.Query(ctx, steps.SelectCopied)
	if err != nil {
		return err
	}
	got, err := pgx.CollectRows(read, pgx.RowToStructByPos[steps.Copied])
	if err != nil {
		return err
	}
	return steps.SameCopied(got)
}

func copyOut(ctx context.Context, conn *pgx.Conn) error {
	var out bytes.Buffer
	if _, err := conn.PgConn().CopyTo(ctx, &out, "COPY person (id, ssn, born) TO STDOUT"); err != nil {
		return err
	}
	return steps.Expect("row 1 among the copied",
		strings.Contains("\n"+out.String(), "\n1\t"+steps.SSN+"\t1980-05-17\n"), true)
}
