package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Each way of speaking that a server of simple queries understands.
var drivers = map[string]string{"pgx": "simple", "postgres": "extended"}

// everywhere runs a test with each driver, connected to a server with these answers.
func everywhere(t *testing.T, answers answers, test func(*testing.T, *Database)) {
	dsn := serve(t, answers)
	for driver, mode := range drivers {
		t.Run(driver, func(t *testing.T) {
			database, err := Open(context.Background(), driver, mode, dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer database.Close()
			test(t, database)
		})
	}
}

func TestAnAnswerIsTheSameWithEachDriver(t *testing.T) {
	head := columns("n", oidInt8, "t", oidText, "b", oidBool, "d", oidDate, "at", oidTimestamp, "m", oidNumeric,
		"x", oidBytea, "none", oidText)
	cells := row("7", "seven", "t", "2024-02-29", "2024-02-29 13:14:15.5", "1.50", `\x0aff`, "NULL")
	everywhere(t, answers{"all": {head, cells, complete("SELECT 1")}}, func(t *testing.T, database *Database) {
		rows, err := database.Query(context.Background(), "all", nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []any{int64(7), "seven", true, "2024-02-29", "2024-02-29 13:14:15.5", "1.50", `\x0aff`, nil}
		if len(rows.Cells) != 1 || !reflect.DeepEqual(rows.Cells[0], want) || rows.Columns[4] != "at" {
			t.Errorf("%v: %#v", rows.Columns, rows.Cells)
		}
	})
}

func TestAnAnswerThatBreaksOffIsAnError(t *testing.T) {
	head := columns("n", oidInt8)
	server := answers{
		"refused": {head, row("1"), refused("57014", "canceling statement")},
		"cut":     {head, row("1"), hangUp{}},
	}
	for statement := range server {
		everywhere(t, server, func(t *testing.T, database *Database) {
			if _, err := database.Query(context.Background(), statement, nil); err == nil {
				t.Errorf("%s: query gave a short answer", statement)
			}
		})
		everywhere(t, server, func(t *testing.T, database *Database) {
			if _, _, err := database.Digest(context.Background(), statement, nil, nil); err == nil {
				t.Errorf("%s: digest gave a short answer", statement)
			}
		})
	}
}

func TestADigestIsOfTheCellsInOrder(t *testing.T) {
	head := columns("id", oidInt8, "name", oidText, "other", oidText)
	server := answers{"all": {head, row("1", "one", "x"), row("2", "NULL", ""), complete("SELECT 2")}}
	everywhere(t, server, func(t *testing.T, database *Database) {
		for names, want := range map[string]string{
			"":        "1\x1fone\x1fx\x1f\n2\x1f\x00\x1f\x1f\n",
			"name id": "one\x1f1\x1f\n\x00\x1f2\x1f\n",
		} {
			count, digest, err := database.Digest(context.Background(), "all", strings.Fields(names), nil)
			if err != nil || count != 2 || digest != sum(want) {
				t.Errorf("%q: %d rows, %s, %v", names, count, digest, err)
			}
		}
		if _, _, err := database.Digest(context.Background(), "all", []string{"ssn"}, nil); err == nil {
			t.Error("a column that isn't there")
		}
	})
}

func TestRowsThatWereChangedAreCounted(t *testing.T) {
	everywhere(t, answers{"change": {complete("UPDATE 3")}}, func(t *testing.T, database *Database) {
		if changed, err := database.Exec(context.Background(), "change", nil); err != nil || changed != 3 {
			t.Errorf("%d, %v", changed, err)
		}
	})
}

func TestAFailureHoldsNoValue(t *testing.T) {
	text := `invalid input "078-05-1120" for type integer, or 'Ann', or 4111111111111111`
	everywhere(t, answers{"bad": {refused("22P02", text)}}, func(t *testing.T, database *Database) {
		_, err := database.Query(context.Background(), "bad", nil)
		var failure *Failure
		if !errors.As(err, &failure) || failure.State != "22P02" {
			t.Fatalf("%#v", err)
		}
		if want := "SQLSTATE 22P02: invalid input … for type integer, or …, or …"; err.Error() != want {
			t.Errorf("%s", err)
		}
		if all := fmt.Sprintf("%+v %#v", err, err); strings.Contains(all, "1120") || strings.Contains(all, "Ann") {
			t.Errorf("%s", all)
		}
	})
}

func TestCopyOutGivesItsDigestAndAFile(t *testing.T) {
	server := answers{"COPY t TO STDOUT": {
		&pgproto3.CopyOutResponse{}, &pgproto3.CopyData{Data: []byte("1\tone\n")}, &pgproto3.CopyData{Data: []byte("2\ttwo\n")},
		&pgproto3.CopyDone{}, complete("COPY 2"),
	}, "SELECT 1": {columns("n", oidInt8), row("1"), complete("SELECT 1")}}
	database := simple(t, server)
	path := filepath.Join(t.TempDir(), "rows")
	done, err := database.CopyOut(context.Background(), "COPY t TO STDOUT", path)
	if want := (Copied{2, 12, sum("1\tone\n2\ttwo\n")}); err != nil || done != want {
		t.Errorf("%+v, %v", done, err)
	}
	if text, _ := os.ReadFile(path); string(text) != "1\tone\n2\ttwo\n" {
		t.Errorf("the file holds %q", text)
	}
	if _, err := database.CopyOut(context.Background(), "SELECT 1", ""); err == nil {
		t.Error("what is no COPY passed for one")
	}
}

func TestACopyThatBreaksOffIsAnError(t *testing.T) {
	database := simple(t, answers{"COPY t TO STDOUT": {
		&pgproto3.CopyOutResponse{}, &pgproto3.CopyData{Data: []byte("1\tone\n")}, refused("42501", "no"),
	}})
	if _, err := database.CopyOut(context.Background(), "COPY t TO STDOUT", ""); err == nil {
		t.Error("no error")
	}
}

func TestCopyNeedsPgx(t *testing.T) {
	database, err := Open(context.Background(), "postgres", "extended", serve(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	if _, err := database.CopyOut(context.Background(), "COPY t TO STDOUT", ""); err == nil ||
		!strings.Contains(err.Error(), "needs the driver pgx") {
		t.Errorf("%v", err)
	}
}

func TestASessionIsAnAnswerOfOne(t *testing.T) {
	head := columns("?column?", oidInt8)
	right := serve(t, answers{"SELECT 1": {head, row("1"), complete("SELECT 1")}})
	if err := Session(context.Background(), "pgx", "simple", right); err != nil {
		t.Error(err)
	}
	wrong := serve(t, answers{"SELECT 1": {head, row("2"), complete("SELECT 1")}})
	if err := Session(context.Background(), "pgx", "simple", wrong); err == nil {
		t.Error("another answer passed for a session")
	}
}

func TestWhatCantBeOpenedIsNamed(t *testing.T) {
	for part, words := range map[string][3]string{
		"driver …":              {"oracle", "prepared", ""},
		"mode …":                {"pgx", "named", ""},
		"dial":                  {"pgx", "prepared", "host=/no/such/folder user=app password=hunter2"},
		"no such":               {"postgres", "extended", "host=/no/such/folder user=app password=hunter2"},
		"invalid DSN":           {"mysql", "prepared", "nonsense"},
		"one of prepared, text": {"mysql", "simple", "app:hunter2@unix(/no/such/socket)/shop"},
	} {
		_, err := Open(context.Background(), words[0], words[1], words[2])
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func TestArgumentsAreQuestionMarksInMySQL(t *testing.T) {
	for text, want := range map[string]statement{
		"SELECT 1":                        {text: "SELECT 1"},
		"a = $1 AND b < $2":               {text: "a = ? AND b < ?", order: []int{0, 1}},
		"a = $10 OR b = $2 OR c = $2":     {text: "a = ? OR b = ? OR c = ?", order: []int{9, 1, 1}},
		"VALUES ($2, $1, UPPER($1), '$')": {text: "VALUES (?, ?, UPPER(?), '$')", order: []int{1, 0, 0}},
	} {
		translated, order := questionMarks(text)
		if translated != want.text || !reflect.DeepEqual(order, want.order) {
			t.Errorf("%s: %s, %v", text, translated, order)
		}
	}
}

func TestAStatementOfMySQLHasAsManyArgumentsAsItNames(t *testing.T) {
	statements := mysqlStatements{known: map[string]*statement{}}
	for text, given := range map[string][]any{
		"a = $1 AND b = $2": {1},
		"a = $1":            {1, 2},
		"a = $2":            {},
		"a = 1":             {1},
	} {
		if _, _, err := statements.find(context.Background(), text, given); err == nil {
			t.Errorf("%s with %d", text, len(given))
		}
	}
	_, found, err := statements.find(context.Background(), "a = $2 AND b = $1", []any{"b", "a"})
	if err != nil || !reflect.DeepEqual(found, []any{"a", "b"}) {
		t.Errorf("%v, %v", found, err)
	}
}

func simple(t *testing.T, server answers) *Database {
	t.Helper()
	database, err := Open(context.Background(), "pgx", "simple", serve(t, server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { database.Close() })
	return database
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}
