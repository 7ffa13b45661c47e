package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

const readPerson = "SELECT ssn FROM person WHERE id = $1"

// readAs reads one row in a transaction for each token, on one connection, and once without any.
func readAs(ctx context.Context, dsn string, tokens []string, mode pgx.QueryExecMode) ([]string, error) {
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

	read := make([]string, len(tokens)+1)
	for index, token := range tokens {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT set_config('fieldveil.token', $1, true)", token); err != nil {
				return err
			}
			return tx.QueryRow(ctx, readPerson, 1).Scan(&read[index])
		})
		if err != nil {
			return nil, err
		}
	}
	return read, conn.QueryRow(ctx, readPerson, 1).Scan(&read[len(tokens)])
}
