package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

func TestLagIsHowLongAgoTheLogEndedWhereTheStandbyIs(t *testing.T) {
	var meter lagMeter
	begin := time.Now()
	for _, step := range []struct {
		second        int
		end, replayed int64
		want          time.Duration
	}{
		{0, 100, 100, 0}, {1, 200, 100, 0}, {2, 300, 100, time.Second}, {5, 300, 200, 3 * time.Second}, {6, 300, 300, 0},
	} {
		if got := meter.behind(begin.Add(time.Duration(step.second)*time.Second), step.end, step.replayed); got != step.want {
			t.Errorf("at %d: %s", step.second, got)
		}
	}
}

func TestErrorsAreSortedAndQuoteNoValue(t *testing.T) {
	session := &session{flag: "--direct"}
	for code, want := range map[string]any{
		"57P01": new(*table.Transient), "40P01": new(*table.Transient), "55P03": new(*table.Transient), "08006": new(*table.Transient),
		"22P02": new(*table.RowError), "23505": new(*table.RowError), "XX001": new(*table.RowError), "42601": new(*fault.Fault),
	} {
		said := &pgconn.PgError{Code: code, Message: `invalid input: "secret"`, Detail: "secret", Where: "secret", Hint: "secret"}
		err := session.explain(said)
		if !errors.As(err, want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %T %v", code, err, err)
		}
	}
	said := &pgconn.PgError{Code: "0A000", Message: "fieldveil: no", Hint: "do"}
	if err := session.explain(said); fault.ExitStatus(err) != fault.ExitBadInput || !strings.HasPrefix(err.Error(), "--direct: it leads through a sidecar") {
		t.Error(err)
	}
	session.flag = "--through"
	if err := session.explain(said); fault.ExitStatus(err) != fault.ExitBadInput || err.Error() != "--through: no (SQLSTATE 0A000); do" {
		t.Error(err)
	}
	if _, err := Config("--direct", "postgres://u:secret@[::1"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestArraysOfKeysAreEscaped(t *testing.T) {
	server := &Server{key: []string{"a", "b"}}
	arrays := server.keyArrays([]table.Key{{`x"y`, "1"}, {`\,{}`, ""}})
	if string(arrays[0]) != `{"x\"y","\\,{}"}` || string(arrays[1]) != `{"1",""}` {
		t.Errorf("%s", arrays)
	}
	if arrays := server.keyArrays(nil); string(arrays[0]) != "{}" {
		t.Errorf("%s", arrays)
	}
}

func TestProbesAreOfTheTypeAndNoMaskLeavesThem(t *testing.T) {
	for range 200 {
		if day := connections.ProbeDate(); strings.HasSuffix(day, "-01-01") {
			t.Fatal(day)
		} else if _, err := time.Parse(time.DateOnly, day); err != nil {
			t.Fatal(err)
		}
	}
	if value := probeValue(pgtype.VarcharOID, 4+3); len(value) != 3 {
		t.Errorf("%q", value)
	}
	if value := probeValue(pgtype.Int8OID, -1); value != nil {
		t.Errorf("%q", value)
	}
}

func TestReasonOfNoConnectionIsTold(t *testing.T) {
	for url, reason := range map[string]string{
		"host=/nowhere": "no such file or directory", "host=no-such-host.invalid": "name is not known", "host=127.0.0.1 port=1": "connection refused",
	} {
		config, err := Config("--direct", url+" user=u password=secret sslmode=disable")
		if err == nil {
			_, err = connect(t.Context(), "--direct", config)
		}
		var transient *table.Transient
		if !errors.As(err, &transient) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
