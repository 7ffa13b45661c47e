package mysql

import (
	"context"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// relation is what the server says of the table.
type relation struct {
	name     catalog.Table
	key      []keyColumn
	kept     []string // columns that an update would change unasked: ON UPDATE CURRENT_TIMESTAMP
	all      map[string]column
	columns  []column // those that are worked on
	triggers []string // those before an update
	readOnly bool
}

// column is a column as the server stores it.
type column struct {
	name, stored string
	raw          bool // holds bytes
	holds        bool // envelopes
	generated    bool
	characters   int // of a varchar or varbinary
}

// keyColumn is a column of the primary key. Its values are told and taken as texts.
type keyColumn struct {
	name string
	// shown is an expression for its text, and given one for a value from a text; %s is the column or the place.
	shown, given string
}

const relationSQL = `SELECT TABLE_TYPE, COALESCE(ENGINE, ''), CAST(@@read_only AS CHAR)
FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`

const columnsSQL = `SELECT COLUMN_NAME, LOWER(DATA_TYPE), LOWER(COLUMN_TYPE), LOWER(EXTRA),
  CAST(COALESCE(CHARACTER_MAXIMUM_LENGTH, 0) AS CHAR), COALESCE(COLLATION_NAME, '')
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`

const keySQL = `SELECT COLUMN_NAME, CAST(COALESCE(SUB_PART, 0) AS CHAR) FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX`

const triggersSQL = `SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ? AND EVENT_MANIPULATION = 'UPDATE' AND ACTION_TIMING = 'BEFORE' ORDER BY TRIGGER_NAME`

func (s *Server) describe(ctx context.Context, session *session) error {
	r := &s.table
	place := "table " + r.name.String()
	found, err := session.query(ctx, relationSQL, r.name.Schema, r.name.Name)
	if err != nil {
		return err
	}
	switch {
	case len(found) == 0:
		return fault.Input(place, "there is no such table on the server that --direct leads to, or its user may not see it",
			"name another table as DATABASE.TABLE, or another server")
	case string(found[0][0]) != "BASE TABLE":
		return fault.Input(place, "it is no table", "name the table that a view shows")
	case !strings.EqualFold(string(found[0][1]), "InnoDB"):
		return fault.Input(place, "its engine "+string(found[0][1])+" has no transactions, and what is written could be lost or half written",
			"first: ALTER TABLE "+r.sql()+" ENGINE = InnoDB")
	}
	// Newer servers have words in the place of 1.
	r.readOnly = string(found[0][2]) != "0" && string(found[0][2]) != "OFF"
	columns, err := session.query(ctx, columnsSQL, r.name.Schema, r.name.Name)
	if err != nil {
		return err
	}
	r.all = map[string]column{}
	types := map[string]string{}
	for _, one := range columns {
		name, kind, extra := string(one[0]), string(one[1]), string(one[3])
		length, _ := strconv.Atoi(string(one[4]))
		r.all[name] = columnOf(name, kind, string(one[2]), extra, length)
		types[name] = string(one[2])
		if strings.Contains(extra, "on update") {
			r.kept = append(r.kept, name)
		}
	}
	return s.describeKey(ctx, session, types)
}

func (s *Server) describeKey(ctx context.Context, session *session, types map[string]string) error {
	r := &s.table
	place := "table " + r.name.String()
	key, err := session.query(ctx, keySQL, r.name.Schema, r.name.Name)
	if err != nil {
		return err
	}
	for _, one := range key {
		name := string(one[0])
		part, known := keyColumnOf(name, types[name])
		if !known || string(one[1]) != "0" {
			return fault.Input(place, "its primary key has the column "+name+", stored as "+types[name]+", whose values have no text that names them exactly",
				"give the table another primary key")
		}
		r.key = append(r.key, part)
	}
	if len(r.key) == 0 {
		return fault.Input(place, "it has no primary key", "give it one: ALTER TABLE "+r.sql()+" ADD PRIMARY KEY (…)")
	}
	triggers, err := session.query(ctx, triggersSQL, r.name.Schema, r.name.Name)
	for _, one := range triggers {
		r.triggers = append(r.triggers, quote(string(one[0])))
	}
	return err
}

func columnOf(name, kind, stored, extra string, length int) column {
	out := column{name: name, stored: stored}
	out.generated = strings.Contains(extra, "generated") || strings.Contains(extra, "virtual") || strings.Contains(extra, "persistent")
	switch kind {
	case "varbinary":
		out.raw, out.holds, out.characters = true, true, length
	case "tinyblob", "blob", "mediumblob", "longblob":
		out.raw, out.holds = true, true
	case "varchar":
		out.holds, out.characters = true, length
	case "tinytext", "text", "mediumtext", "longtext":
		out.holds = true
	}
	return out
}

// wider is a type that holds any envelope.
func (c column) wider() string {
	if c.raw {
		return "BLOB"
	}
	return "TEXT"
}

// keyColumnOf knows the types whose texts name their values exactly. A bare text would be compared with a number as a
// float is.
func keyColumnOf(name, stored string) (keyColumn, bool) {
	base, arguments, _ := strings.Cut(strings.SplitN(stored, " ", 2)[0], "(")
	arguments = strings.TrimSuffix(arguments, ")")
	unsigned := strings.Contains(stored, "unsigned")
	part := keyColumn{name: name, shown: "CAST(%s AS CHAR)", given: "%s"}
	switch base {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		part.given = "CAST(%s AS SIGNED)"
		if unsigned {
			part.given = "CAST(%s AS UNSIGNED)"
		}
	case "decimal":
		part.given = "CAST(%s AS DECIMAL(" + arguments + "))"
	case "date", "uuid", "inet6", "inet4":
	case "datetime", "timestamp":
		part.given = "CAST(%s AS DATETIME(6))"
	case "time":
		part.given = "CAST(%s AS TIME(6))"
	case "char", "varchar":
		part.shown = "%s"
	case "binary", "varbinary":
		part.shown, part.given = "HEX(%s)", "UNHEX(%s)"
	default:
		return part, false
	}
	return part, true
}

// stored is a protected column as the server has it, if it can hold envelopes.
func (r *relation) stored(name string) (column, error) {
	place := "table " + r.name.String() + ", column " + name
	found, there := r.all[name]
	if !there {
		return column{}, fault.Input(place, "the table has no such column", "see the catalog, and the table with SHOW CREATE TABLE")
	}
	for _, part := range r.key {
		if part.name == name {
			return column{}, fault.Input(place, "it is protected and part of the primary key", "give the table another primary key")
		}
	}
	switch {
	case found.generated:
		return column{}, fault.Input(place, "the server generates it, and would store it in clear", "make it an ordinary column")
	case found.holds:
		return found, nil
	}
	return column{}, fault.Input(place, "it is stored as "+found.stored+", which can hold no envelope",
		"first: ALTER TABLE "+r.sql()+" MODIFY "+quote(name)+" TEXT")
}

func (r *relation) writable() error {
	if r.readOnly {
		return fault.Input("--direct", "it leads to a server that is read-only", "let it lead to the primary server")
	}
	return nil
}

func (r *relation) changedByTriggers() error {
	return fault.Input("table "+r.name.String(), "what is written may be changed by its trigger "+strings.Join(r.triggers, ", ")+", and an envelope that is changed is lost",
		"see that they leave the protected columns alone and give --allow-triggers")
}

// sql is the table's name in SQL.
func (r *relation) sql() string { return quote(r.name.Schema) + "." + quote(r.name.Name) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
