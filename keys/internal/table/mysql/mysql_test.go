package mysql

import (
	"errors"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

func TestErrorsAreSortedAndQuoteNoValue(t *testing.T) {
	session := &session{flag: "--direct"}
	for _, one := range []struct {
		number uint16
		state  string
		want   any
	}{
		{1205, "HY000", new(*table.Transient)}, {1213, "40001", new(*table.Transient)}, {1927, "70100", new(*table.Transient)},
		{1366, "22007", new(*table.RowError)}, {1062, "23000", new(*table.RowError)}, {1815, "HY000", new(*table.RowError)}, {1105, "HY000", new(*table.Transient)}, {1644, "45000", new(*table.RowError)}, {1064, "42000", new(*fault.Fault)},
	} {
		err := session.explain(errorOf(one.number, one.state, "Incorrect value: 'secret'"))
		if !errors.As(err, one.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %T %v", one.number, err, err)
		}
	}
	said := errorOf(1235, "42000", "fieldveil: no")
	if err := session.explain(said); fault.ExitStatus(err) != fault.ExitBadInput || !strings.HasPrefix(err.Error(), "--direct: it leads through a sidecar") {
		t.Error(err)
	}
	session.flag = "--through"
	if err := session.explain(said); fault.ExitStatus(err) != fault.ExitBadInput || !strings.HasPrefix(err.Error(), "--through: no (error 1235, SQLSTATE 42000)") {
		t.Error(err)
	}
}

func errorOf(number uint16, state, message string) error {
	err := &driver.MySQLError{Number: number, Message: message}
	copy(err.SQLState[:], state)
	return err
}

func TestURLIsReadAndNothingOfABadOneIsQuoted(t *testing.T) {
	config, err := Config("--direct", "mysql://owner:p%40ss@db/shop")
	if err != nil || config.Addr != "db:3306" || config.User != "owner" || config.Passwd != "p@ss" || config.DBName != "shop" {
		t.Errorf("%+v %v", config, err)
	}
	config, err = Config("--direct", "mysql://owner@/shop?socket=/run/mysql.sock&tls=true")
	if err != nil || config.Net != "unix" || config.Addr != "/run/mysql.sock" || config.TLSConfig != "true" {
		t.Errorf("%+v %v", config, err)
	}
	for _, text := range []string{"mysql://u:secret@[::1", "owner:secret@tcp(db)/shop", "mysql://u:secret@db/shop?allowAllFiles=true", "mysql://db/secret", "mysql://u:secret@db/shop?tls=secret", "mysql://u:secret@db/shop?ca=/nowhere"} {
		if _, err := Config("--direct", text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestVersionTellsNULLFromEmptyAndOneValueFromTwo(t *testing.T) {
	seen := map[string]bool{}
	for _, values := range [][][]byte{{nil}, {{}}, {[]byte("ab"), nil}, {[]byte("a"), []byte("b")}, {[]byte("ab"), {}}} {
		seen[versionOf(values)] = true
	}
	if len(seen) != 5 {
		t.Error(len(seen))
	}
}

func TestKeysAreComparedAsTheTypeThatTheyAre(t *testing.T) {
	server := &Server{table: relation{}}
	for _, one := range []struct{ stored, shown, given string }{
		{"bigint(20) unsigned", "CAST(t.`k` AS CHAR)", "CAST(? AS UNSIGNED)"}, {"int", "CAST(t.`k` AS CHAR)", "CAST(? AS SIGNED)"},
		{"decimal(20,4)", "CAST(t.`k` AS CHAR)", "CAST(? AS DECIMAL(20,4))"}, {"binary(16)", "HEX(t.`k`)", "UNHEX(?)"},
		{"varchar(36)", "t.`k`", "?"}, {"timestamp(3)", "CAST(t.`k` AS CHAR)", "CAST(? AS DATETIME(6))"},
	} {
		part, known := keyColumnOf("k", one.stored)
		server.table.key = []keyColumn{part}
		if !known || server.shownKey()[0] != one.shown || server.givenKey() != "("+one.given+")" {
			t.Errorf("%s: %v %s %s", one.stored, known, server.shownKey()[0], server.givenKey())
		}
	}
	for _, stored := range []string{"double", "float(7,2)", "enum('a','b')", "bit(8)", "json"} {
		if _, known := keyColumnOf("k", stored); known {
			t.Error(stored)
		}
	}
}

func TestFewTextsNameAnyNumberOfKeys(t *testing.T) {
	part, _ := keyColumnOf("k", "int")
	server := &Server{table: relation{key: []keyColumn{part}}}
	texts := map[string]bool{}
	for count := 1; count <= maxKeys; count++ {
		keys := make([]table.Key, count)
		for i := range keys {
			keys[i] = table.Key{"1"}
		}
		text, parameters := server.among(keys)
		texts[text] = true
		if strings.Count(text, "?") != len(parameters) {
			t.Fatal(count)
		}
	}
	if len(texts) != 10 {
		t.Error(len(texts))
	}
}
