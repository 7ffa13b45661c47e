package mysql

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// rowClasses of SQLSTATE are what one row's content can cause: data, constraints, what a trigger raises.
var rowClasses = []string{"22", "23", "45"}

// rowNumbers say the same whatever their class: a value that a column does not take, a constraint; of the sidecar an
// envelope that does not open, a value that is too long.
var rowNumbers = []uint16{1153, 1264, 1292, 1366, 1406, 1690, 1815, 3819, 4025}

// passingNumbers are connections that end, resources that are short, transactions that collide, locks that are held,
// keys or plans that are away.
var passingNumbers = []uint16{1040, 1053, 1105, 1129, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1317, 1927, 3024, 3572, 4031}

// explain sorts an error, and says of it what can hold no value: the server's own
// texts may quote one, so that only their codes are told.
func (s *session) explain(err error) error {
	var said *driver.MySQLError
	if !errors.As(err, &said) {
		return connections.ErrLost(s.flag)
	}
	reason := describe(said)
	own := strings.HasPrefix(said.Message, connections.SidecarPrefix)
	state := string(said.SQLState[:])
	switch {
	case s.flag == connections.Direct && own:
		return connections.ErrSidecar("mysql")
	case slices.Contains(rowNumbers, said.Number), connections.HasClass(state, rowClasses...):
		return &table.RowError{Reason: reason}
	case slices.Contains(passingNumbers, said.Number), connections.HasClass(state, "08", "40"):
		return &table.Transient{Reason: s.flag + ": " + reason}
	case own:
		return fault.Input(s.flag, reason, "change the policy or the table")
	}
	return fault.Failure(s.flag, reason, "see the server's log")
}

func describe(said *driver.MySQLError) string {
	number := "error " + strconv.Itoa(int(said.Number)) + ", SQLSTATE " + string(said.SQLState[:])
	switch {
	case strings.HasPrefix(said.Message, connections.SidecarPrefix):
		return strings.TrimPrefix(said.Message, connections.SidecarPrefix) + " (" + number + ")"
	case said.Number == 1142, said.Number == 1143:
		return "the server does not permit it to this user (" + number + ")"
	case said.Number == 1205, said.Number == 3572:
		return "others hold a lock (" + number + ")"
	}
	return "the server refused with " + number
}

// notConnected says why there is no connection: refused for good, or away.
func notConnected(flag string, err error) error {
	var said *driver.MySQLError
	switch {
	case !errors.As(err, &said):
		return connections.ErrNoServer(flag, "MySQL", err)
	case flag == connections.Direct && strings.HasPrefix(said.Message, connections.SidecarPrefix):
		return connections.ErrSidecar("mysql")
	case slices.Contains(passingNumbers, said.Number):
		return &table.Transient{Reason: flag + ": " + describe(said)}
	case said.Number == 1044, said.Number == 1045, said.Number == 1698:
		return fault.Input(flag, "the server does not let this user in (error "+strconv.Itoa(int(said.Number))+")", "see to user, host, password and plugin")
	case said.Number == 1049:
		return fault.Input(flag, "there is no such database (error 1049)", "name another one")
	}
	return fault.Failure(flag, describe(said), "see the server's log")
}
