package postgres

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// rowClasses of SQLSTATE are what one row's content can cause: data, constraints,
// limits, an envelope that does not open, what a trigger raises.
var rowClasses = []string{"22", "23", "54", "XX001", "P0001"}

// passingClasses are connections that end, resources that are short, transactions
// that collide, locks that are held, keys or plans that are out of date.
var passingClasses = []string{"08", "53", "57P", "40", "55P03"}

// explain sorts an error, and says of it what can hold no value: the server's own
// texts may quote one, so that only their codes and constraints are told.
func (s *session) explain(err error) error {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return connections.ErrLost(s.flag)
	}
	reason := describe(said)
	switch {
	case s.flag == connections.Direct && strings.HasPrefix(said.Message, connections.SidecarPrefix):
		return connections.ErrSidecar("postgres")
	case connections.HasClass(said.Code, passingClasses...):
		return &table.Transient{Reason: s.flag + ": " + reason}
	case connections.HasClass(said.Code, rowClasses...):
		return &table.RowError{Reason: reason}
	case strings.HasPrefix(said.Message, connections.SidecarPrefix):
		remedy := said.Hint
		if remedy == "" {
			remedy = "change the policy or the table"
		}
		return fault.Input(s.flag, reason, remedy)
	}
	return fault.Failure(s.flag, reason, "see the server's log")
}

func describe(said *pgconn.PgError) string {
	switch {
	case strings.HasPrefix(said.Message, connections.SidecarPrefix):
		return strings.TrimPrefix(said.Message, connections.SidecarPrefix) + " (SQLSTATE " + said.Code + ")"
	case said.Code == "42501":
		return "the server does not permit it to this user (SQLSTATE 42501)"
	case said.Code == "55P03":
		return "others hold a lock (SQLSTATE 55P03)"
	case said.ConstraintName != "":
		return "the constraint " + said.ConstraintName + " forbids it (SQLSTATE " + said.Code + ")"
	}
	return "the server refused with SQLSTATE " + said.Code
}

// notConnected says why there is no connection: refused for good, or away.
func notConnected(flag string, err error) error {
	var said *pgconn.PgError
	switch {
	case !errors.As(err, &said):
		return connections.ErrNoServer(flag, "PostgreSQL", err)
	case flag == connections.Direct && strings.HasPrefix(said.Message, connections.SidecarPrefix):
		return connections.ErrSidecar("postgres")
	case connections.HasClass(said.Code, passingClasses...):
		return &table.Transient{Reason: flag + ": " + describe(said)}
	case connections.HasClass(said.Code, "28"):
		return fault.Input(flag, "the server does not let this user in (SQLSTATE "+said.Code+")", "see to user, password and pg_hba.conf")
	case said.Code == "3D000":
		return fault.Input(flag, "there is no such database (SQLSTATE 3D000)", "name another one")
	}
	return fault.Failure(flag, describe(said), "see the server's log")
}
