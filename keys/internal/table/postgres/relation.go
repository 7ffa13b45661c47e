package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// relation is what the server's catalog says of the table.
type relation struct {
	name     catalog.Table
	oid      string
	keyTypes []string // of each column of the primary key, as SQL names them
	equals   []string // the operator of each column of the primary key, as SQL writes it
	path     string   // schemas to find the others in, as search_path lists them; empty for none
	all      map[string]column
	columns  []column // those that are worked on
	standby  bool
}

// column is a column as the server stores it.
type column struct {
	name, stored string
	raw          bool // bytea
	generated    bool
}

const relationSQL = `SELECT c.oid::text, c.relkind::text, pg_catalog.row_security_active(c.oid)::text,
  (c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid))::text,
  pg_catalog.pg_is_in_recovery()::text, pg_catalog.current_database()::text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1::text AND c.relname = $2::text`

// Columns that an index includes come after those of its key. The operators are those
// of the index: another schema's need not be the ones that a name alone finds.
//
// A modifier of -1 gives the name that casts to any length: character(1) is bpchar then.
const columnsSQL = `SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
  CASE WHEN n.nspname = 'pg_catalog' THEN pg_catalog.format_type(t.oid, -1)
       ELSE pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname) END,
  (a.attgenerated <> '')::text,
  coalesce(k.place::text, ''), coalesce(CASE WHEN e.nspname <> 'pg_catalog' OR e.oprname <> '='
    THEN 'OPERATOR(' || pg_catalog.quote_ident(e.nspname) || '.' || e.oprname || ')' END, '='), (t.typcategory IN ('A', 'C'))::text
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  LEFT JOIN (SELECT k.indkey[i] AS attnum, i AS place, o.opcfamily, o.opcintype
    FROM pg_catalog.pg_index k CROSS JOIN pg_catalog.generate_series(0, k.indnkeyatts - 1) i
      JOIN pg_catalog.pg_opclass o ON o.oid = k.indclass[i]
    WHERE k.indrelid = $1::oid AND k.indisprimary) k ON k.attnum = a.attnum
  LEFT JOIN LATERAL (SELECT p.oprname, s.nspname FROM pg_catalog.pg_amop m JOIN pg_catalog.pg_operator p ON p.oid = m.amopopr
      JOIN pg_catalog.pg_namespace s ON s.oid = p.oprnamespace
    WHERE m.amopfamily = k.opcfamily AND m.amoplefttype = k.opcintype AND m.amoprighttype = k.opcintype AND m.amopstrategy = 3) e ON true
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY k.place, a.attnum`

// pathSQL is the session's search_path with the schemas of the primary key's operators
// behind it: comparisons of rows of several columns can name none.
const pathSQL = `SELECT pg_catalog.concat_ws(', ', nullif(pg_catalog.current_setting('search_path'), ''),
  pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(s.nspname), ', '))
FROM pg_catalog.pg_index k CROSS JOIN pg_catalog.generate_series(0, k.indnkeyatts - 1) i
  JOIN pg_catalog.pg_opclass o ON o.oid = k.indclass[i]
  JOIN pg_catalog.pg_amop m ON m.amopfamily = o.opcfamily AND m.amoplefttype = o.opcintype AND m.amoprighttype = o.opcintype
  JOIN pg_catalog.pg_operator p ON p.oid = m.amopopr JOIN pg_catalog.pg_namespace s ON s.oid = p.oprnamespace
WHERE k.indrelid = $1::oid AND k.indisprimary AND s.nspname <> 'pg_catalog'
HAVING pg_catalog.count(*) > 0`

func (s *Server) describe(ctx context.Context, session *session) error {
	r := &s.table
	place := "table " + r.name.String()
	found, err := session.query(ctx, relationSQL, texts(r.name.Schema, r.name.Name), nil)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.Input(place, "there is no such table in the database that --direct leads to", "name another table or database")
	}
	r.oid = string(found[0][0])
	kind, hidden, inherited := string(found[0][1]), string(found[0][2]), string(found[0][3])
	r.standby, s.database = string(found[0][4]) == "true", string(found[0][5])
	switch {
	case kind != "r" && kind != "p":
		return fault.Input(place, "it is no table", "name the table that a view shows, or the server where a foreign table is")
	case hidden == "true":
		return fault.Input(place, "row-level security hides rows of it from the user of --direct", "let --direct be the table's owner, or a user with BYPASSRLS")
	case inherited == "true":
		return fault.Input(place, "other tables inherit from it, and its primary key does not tell their rows apart", "make the children partitions, or detach them")
	}
	columns, err := session.query(ctx, columnsSQL, texts(r.oid), nil)
	if err != nil {
		return err
	}
	r.all = map[string]column{}
	for _, one := range columns {
		name, stored := string(one[0]), string(one[1])
		r.all[name] = column{name: name, stored: stored, raw: stored == "bytea", generated: string(one[3]) == "true"}
		if string(one[4]) == "" {
			continue
		}
		if string(one[6]) == "true" {
			return fault.Input(place, "its primary key has the column "+name+", stored as "+stored+", which is no single value",
				"give the table another primary key")
		}
		s.key, r.keyTypes, r.equals = append(s.key, name), append(r.keyTypes, string(one[2])), append(r.equals, string(one[5]))
	}
	if len(s.key) == 0 {
		return fault.Input(place, "it has no primary key", "give it one: ALTER TABLE "+r.sql()+" ADD PRIMARY KEY (…)")
	}
	path, err := session.query(ctx, pathSQL, texts(r.oid), nil)
	if err != nil || len(path) == 0 {
		return err
	}
	r.path = string(path[0][0])
	return s.findOperators(ctx, session)
}

// findOperators has comparisons in the session find the primary key's operators.
func (s *Server) findOperators(ctx context.Context, session *session) error {
	if s.table.path == "" {
		return nil
	}
	_, err := session.query(ctx, "SELECT pg_catalog.set_config('search_path', $1::text, false)", texts(s.table.path), nil)
	return err
}

// stored is a protected column as the server has it, if it can hold envelopes.
func (r *relation) stored(name string, key []string) (column, error) {
	place := "table " + r.name.String() + ", column " + name
	found, there := r.all[name]
	if !there {
		return column{}, fault.Input(place, "the table has no such column", "see the catalog, and the table with \\d in psql")
	}
	for _, part := range key {
		if part == name {
			return column{}, fault.Input(place, "it is protected and part of the primary key", "give the table another primary key")
		}
	}
	switch {
	case found.generated:
		return column{}, fault.Input(place, "the server generates it, and would store it in clear", "make it an ordinary column")
	case found.raw, found.stored == "text", strings.HasPrefix(found.stored, "character varying"):
		return found, nil
	}
	quoted := quote(name)
	return column{}, fault.Input(place, "it is stored as "+found.stored+", which can hold no envelope",
		"first: ALTER TABLE "+r.sql()+" ALTER COLUMN "+quoted+" TYPE text USING "+quoted+"::text")
}

func (r *relation) writable() error {
	if r.standby {
		return fault.Input("--direct", "it leads to a standby", "let it lead to the primary server")
	}
	return nil
}

// sql is the table's name in SQL.
func (r *relation) sql() string { return quote(r.name.Schema) + "." + quote(r.name.Name) }

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func texts(values ...string) [][]byte {
	out := make([][]byte, len(values))
	for i, value := range values {
		out[i] = []byte(value)
	}
	return out
}

// parameter is a parameter's place in a statement, with its type.
func parameter(number int, typ string) string { return "$" + strconv.Itoa(number) + "::" + typ }
