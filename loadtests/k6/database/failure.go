package database

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

// What may be a value in a message of the server's or of a driver's: quoted text, and digits.
var values = regexp.MustCompile(`"[^"]*"|'[^']*'|[0-9]+`)

// Failure is what went wrong, in words that hold no value.
type Failure struct {
	// SQLSTATE, where the server said it.
	State string
	text  string
}

func (failure *Failure) Error() string {
	if failure.State == "" {
		return failure.text
	}
	return fmt.Sprintf("SQLSTATE %s: %s", failure.State, failure.text)
}

// fail takes the values out of an error. It isn't wrapped: details of the server's stand in it.
func fail(err error) error {
	if err == nil {
		return nil
	}
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	var pgxError *pgconn.PgError
	var pqError *pq.Error
	var mysqlError *mysql.MySQLError
	switch {
	case errors.As(err, &pgxError):
		return &Failure{pgxError.Code, Redact(pgxError.Message)}
	case errors.As(err, &pqError):
		return &Failure{string(pqError.Code), Redact(pqError.Message)}
	case errors.As(err, &mysqlError):
		return &Failure{string(mysqlError.SQLState[:]), Redact(mysqlError.Message)}
	}
	return &Failure{"", Redact(err.Error())}
}

// Redact takes out of a text what may be a value.
func Redact(text string) string {
	return values.ReplaceAllString(text, "…")
}
