package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Copied is what went through COPY.
type Copied struct {
	Rows, Bytes int64
	// SHA-256 of all data, in order, of what was read.
	Digest string
}

type counter int64

func (count *counter) Write(data []byte) (int, error) {
	*count += counter(len(data))
	return len(data), nil
}

// CopyOut reads COPY … TO STDOUT, into a file where one is named.
func (database *Database) CopyOut(ctx context.Context, statement, path string) (Copied, error) {
	var bytes counter
	digest := sha256.New()
	output := io.MultiWriter(&bytes, digest)
	if path != "" {
		file, err := os.Create(path)
		if err != nil {
			return Copied{}, err
		}
		defer file.Close()
		output = io.MultiWriter(&bytes, digest, file)
	}
	done, err := database.copy(func(conn *pgconn.PgConn) (pgconn.CommandTag, error) {
		return conn.CopyTo(ctx, output, statement)
	})
	return Copied{done, int64(bytes), hex.EncodeToString(digest.Sum(nil))}, err
}

// CopyIn sends a file to COPY … FROM STDIN.
func (database *Database) CopyIn(ctx context.Context, statement, path string) (Copied, error) {
	file, err := os.Open(path)
	if err != nil {
		return Copied{}, err
	}
	defer file.Close()
	var bytes counter
	done, err := database.copy(func(conn *pgconn.PgConn) (pgconn.CommandTag, error) {
		return conn.CopyFrom(ctx, io.TeeReader(file, &bytes), statement)
	})
	return Copied{Rows: done, Bytes: int64(bytes)}, err
}

func (database *Database) copy(transfer func(*pgconn.PgConn) (pgconn.CommandTag, error)) (int64, error) {
	var rows int64
	err := database.conn.Raw(func(raw any) error {
		conn, is := raw.(*stdlib.Conn)
		if !is {
			return errors.New("COPY needs the driver pgx: mode prepared or simple")
		}
		done, err := transfer(conn.Conn().PgConn())
		if err == nil && !strings.HasPrefix(done.String(), "COPY") {
			err = errors.New("the statement is not a COPY")
		}
		rows = done.RowsAffected()
		return err
	})
	return rows, fail(err)
}
