package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// How go-sql-driver speaks in each mode: whether it writes the arguments into the text.
var mysqlModes = map[string]bool{"prepared": false, "text": true}

// Arguments as PostgreSQL numbers them, which scripts do for every database.
var numbered = regexp.MustCompile(`\$[1-9][0-9]*`)

func mysqlConfig(mode, dsn string) (*mysql.Config, error) {
	interpolates, known := mysqlModes[mode]
	if !known {
		return nil, fmt.Errorf("mode %q of the driver mysql: one of prepared, text", mode)
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.InterpolateParams = interpolates
	return config, nil
}

// statement is a script's SQL as MySQL reads it.
type statement struct {
	text string
	// Which argument each `?` stands for.
	order []int
	// Where it is prepared. The driver would prepare and forget it with each call.
	prepared *sql.Stmt
}

// mysqlStatements are those of one connection, by the script's text.
type mysqlStatements struct {
	conn    *sql.Conn
	prepare bool
	known   map[string]*statement
}

func (statements *mysqlStatements) Query(ctx context.Context, text string, arguments []any) (*sql.Rows, error) {
	found, arguments, err := statements.find(ctx, text, arguments)
	switch {
	case err != nil:
		return nil, err
	case found.prepared != nil:
		return found.prepared.QueryContext(ctx, arguments...)
	}
	return statements.conn.QueryContext(ctx, found.text, arguments...)
}

func (statements *mysqlStatements) Exec(ctx context.Context, text string, arguments []any) (sql.Result, error) {
	found, arguments, err := statements.find(ctx, text, arguments)
	switch {
	case err != nil:
		return nil, err
	case found.prepared != nil:
		return found.prepared.ExecContext(ctx, arguments...)
	}
	return statements.conn.ExecContext(ctx, found.text, arguments...)
}

// find gives the statement and its arguments in their order.
func (statements *mysqlStatements) find(ctx context.Context, text string, given []any) (*statement, []any, error) {
	found := statements.known[text]
	if found == nil {
		translated, order := questionMarks(text)
		found = &statement{text: translated, order: order}
		// What has no arguments may be what can't be prepared: BEGIN.
		if statements.prepare && len(order) > 0 {
			prepared, err := statements.conn.PrepareContext(ctx, translated)
			if err != nil {
				return nil, nil, err
			}
			found.prepared = prepared
		}
		statements.known[text] = found
	}
	arguments := make([]any, len(found.order))
	for i, number := range found.order {
		if number >= len(given) {
			return nil, nil, errors.New("a statement has fewer arguments than it names")
		}
		arguments[i] = given[number]
	}
	if len(given) > 0 && len(given) != highest(found.order) {
		return nil, nil, errors.New("a statement has more arguments than it names")
	}
	return found, arguments, nil
}

// questionMarks takes the numbers out of a text: "a = $2 AND b = $1" gives "a = ? AND b = ?" and 1, 0.
func questionMarks(text string) (string, []int) {
	var order []int
	translated := numbered.ReplaceAllStringFunc(text, func(argument string) string {
		number, _ := strconv.Atoi(strings.TrimPrefix(argument, "$"))
		order = append(order, number-1)
		return "?"
	})
	return translated, order
}

// highest is how many arguments there must be.
func highest(order []int) int {
	if len(order) == 0 {
		return 0
	}
	return slices.Max(order) + 1
}
