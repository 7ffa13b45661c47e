// Command pgx-client runs the same few statements in every query mode of pgx and
// prints what it saw, one JSON object a mode. A test starts it and judges the output.
//
//	pgx-client CONNECTION-STRING
//
// With tokens behind it, it says in every mode who the end user of a transaction is, and prints what each reads.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// How long the whole run may take: a hang is a failure with a name.
const limit = time.Minute

// The rows of one mode start here, so that modes do not meet.
const rowsPerMode = 100

// How many statements a batch has before its one Sync.
const batchSize = 10

// seen is what one mode saw.
type seen struct {
	Mode      string   `json:"mode"`
	Inserted  [2]any   `json:"inserted"`
	Found     int64    `json:"found"`
	Selected  [3]any   `json:"selected"`
	Batch     []string `json:"batch"`
	NullNotes bool     `json:"null_notes"`
	Refused   string   `json:"refused"`
	After     int      `json:"after_refusal"`
}

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement,
	pgx.QueryExecModeCacheDescribe,
	pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: pgx-client CONNECTION-STRING [TOKEN...]")
		os.Exit(2)
	}
	dsn, tokens := os.Args[1], os.Args[2:]
	for number, mode := range modes {
		result, err := runFor(ctx, dsn, tokens, mode, int64(number+1)*rowsPerMode)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", mode, err)
			os.Exit(1)
		}
		if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
			os.Exit(1)
		}
	}
}

func runFor(ctx context.Context, dsn string, tokens []string, mode pgx.QueryExecMode, id int64) (any, error) {
	if len(tokens) > 0 {
		return readAs(ctx, dsn, tokens, mode)
	}
	return run(ctx, dsn, mode, id)
}

func run(ctx context.Context, dsn string, mode pgx.QueryExecMode, id int64) (*seen, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)

	result := &seen{Mode: mode.String()}
	if err := writeAndRead(ctx, conn, id, result); err != nil {
		return nil, err
	}
	if err := batch(ctx, conn, id+1, result); err != nil {
		return nil, err
	}
	return result, refusal(ctx, conn, result)
}

func writeAndRead(ctx context.Context, conn *pgx.Conn, id int64, result *seen) error {
	ssn, card := fmt.Sprintf("ssn-%d", id), fmt.Sprintf("card-%d", id)
	var email, phone string
	err := conn.QueryRow(ctx,
		"INSERT INTO customer (id, name, email, ssn, phone, card) VALUES ($1, $2, $3, $4, $5, $6) RETURNING email, phone",
		id, "name", "mail", ssn, "phone", card).Scan(&email, &phone)
	if err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	result.Inserted = [2]any{email, phone}
	if err := conn.QueryRow(ctx, "SELECT id FROM customer WHERE ssn = $1", ssn).Scan(&result.Found); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	var notes *string
	var name, gotSSN, gotCard string
	// Twice: a cached statement is bound again without being parsed.
	for range 2 {
		err := conn.QueryRow(ctx, "SELECT name, ssn, card, notes FROM customer WHERE id = $1", id).
			Scan(&name, &gotSSN, &gotCard, &notes)
		if err != nil {
			return fmt.Errorf("select: %w", err)
		}
	}
	result.Selected, result.NullNotes = [3]any{name, gotSSN, gotCard}, notes == nil
	return nil
}

func batch(ctx context.Context, conn *pgx.Conn, first int64, result *seen) error {
	batch := &pgx.Batch{}
	for id := first; id < first+batchSize; id++ {
		batch.Queue("INSERT INTO customer (id, ssn) VALUES ($1, $2) RETURNING ssn", id, fmt.Sprintf("ssn-%d", id))
	}
	results := conn.SendBatch(ctx, batch)
	defer results.Close()
	for range batchSize {
		var ssn string
		if err := results.QueryRow().Scan(&ssn); err != nil {
			return fmt.Errorf("batch: %w", err)
		}
		result.Batch = append(result.Batch, ssn)
	}
	return nil
}

func refusal(ctx context.Context, conn *pgx.Conn, result *seen) error {
	var id int64
	err := conn.QueryRow(ctx, "SELECT id FROM customer WHERE card LIKE $1", "card%").Scan(&id)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return fmt.Errorf("a LIKE on a sealed column: %w", err)
	}
	result.Refused = refused.Code
	return conn.QueryRow(ctx, "SELECT 42").Scan(&result.After)
}
