package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// maxPageBytes is what a page may take in memory before it ends early.
const maxPageBytes = 16 << 20

// binaryFormat is the protocol's number for results in binary.
const binaryFormat int16 = 1

// Read gives stored rows of a range in the order of their keys.
func (s *Server) Read(ctx context.Context, part table.Range, limit int) ([]table.Row, error) {
	where, parameters, err := s.within(part)
	if err != nil {
		return nil, err
	}
	sql := s.selectStored() + where + " ORDER BY " + s.keyColumns("") + " LIMIT " + parameter(len(parameters)+1, "bigint")
	return s.stored(ctx, sql, append(parameters, []byte(strconv.Itoa(limit))), maxPageBytes)
}

// Get gives the stored rows with these keys that there are.
func (s *Server) Get(ctx context.Context, keys []table.Key) ([]table.Row, error) {
	return s.stored(ctx, s.selectStored()+" JOIN "+s.keyRows()+" ON "+s.keyMatch(), s.keyArrays(keys), math.MaxInt)
}

func (s *Server) stored(ctx context.Context, sql string, parameters [][]byte, limit int) ([]table.Row, error) {
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	// In binary the bytes of text and of bytea come as they are stored.
	formats := make([]int16, len(s.key)+1+len(s.table.columns))
	for i := range s.table.columns {
		formats[len(s.key)+1+i] = binaryFormat
	}
	found, err := session.queryUpTo(ctx, sql, parameters, formats, limit)
	if err != nil {
		return nil, err
	}
	rows := make([]table.Row, len(found))
	for i, values := range found {
		key := make(table.Key, len(s.key))
		for part := range key {
			key[part] = string(values[part])
		}
		rows[i] = table.Row{Key: key, Version: string(values[len(s.key)]), Values: values[len(s.key)+1:]}
	}
	return rows, nil
}

// CheckKey refuses what is no key of the table.
func (s *Server) CheckKey(ctx context.Context, place string, key table.Key) error {
	if key == nil {
		return nil
	}
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return err
	}
	places := make([]string, len(s.key))
	told := make([]string, len(s.key))
	for i, typ := range s.table.keyTypes {
		places[i], told[i] = parameter(i+1, typ), s.key[i]+" "+typ
	}
	_, err = session.query(ctx, "SELECT "+strings.Join(places, ", "), texts(key...), nil)
	var row *table.RowError
	if errors.As(err, &row) {
		return fault.Input(place, "not a key: the primary key is "+strings.Join(told, ", "), "give a value of that type, or let fieldveil table ranges make them")
	}
	return err
}

// countFor is how long rows may be counted before the planner's estimate will do.
const countFor = "SET LOCAL statement_timeout = '2s'"

// Estimate counts the range, or is what the planner takes it for where that takes
// long: that is far too many while a table grows by being sealed.
func (s *Server) Estimate(ctx context.Context, part table.Range) (int64, error) {
	where, parameters, err := s.within(part)
	if err != nil {
		return 0, err
	}
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return 0, err
	}
	if count, err := s.count(ctx, session, where, parameters); err == nil {
		return count, nil
	}
	rows, err := session.query(ctx, "EXPLAIN (FORMAT JSON) SELECT FROM "+s.table.sql()+" AS t"+where, parameters, nil)
	if err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(rows[0][0], &plans); err != nil || len(plans) == 0 {
		return 0, nil
	}
	return plans[0].Plan.Rows, nil
}

func (s *Server) count(ctx context.Context, session *session, where string, parameters [][]byte) (int64, error) {
	defer session.rollback(ctx)
	for _, sql := range []string{"BEGIN", countFor} {
		if err := session.do(ctx, sql); err != nil {
			return 0, err
		}
	}
	rows, err := session.query(ctx, "SELECT count(*)::text FROM "+s.table.sql()+" AS t"+where, parameters, nil)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(rows[0][0]), 10, 64)
}

// Boundaries are the last keys of all ranges but the last.
func (s *Server) Boundaries(ctx context.Context, count int) ([]table.Key, error) {
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	shown := make([]string, len(s.key))
	descending := make([]string, len(s.key))
	for i, name := range s.key {
		shown[i], descending[i] = "t."+quote(name)+"::text", "t."+quote(name)+" DESC"
	}
	sql := "SELECT DISTINCT ON (t.fieldveil_tile) " + strings.Join(shown, ", ") +
		" FROM (SELECT " + s.keyColumns("") + ", pg_catalog.ntile($1::int4) OVER (ORDER BY " + s.keyColumns("") + ") AS fieldveil_tile FROM " +
		s.table.sql() + " AS t) AS t ORDER BY t.fieldveil_tile, " + strings.Join(descending, ", ")
	rows, err := session.query(ctx, sql, texts(strconv.Itoa(count)), nil)
	if err != nil {
		return nil, err
	}
	var keys []table.Key
	for _, row := range rows[:max(len(rows)-1, 0)] {
		key := make(table.Key, len(row))
		for i, part := range row {
			key[i] = string(part)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// selectStored selects key, version and the columns of the table, which is t.
func (s *Server) selectStored() string {
	var out strings.Builder
	out.WriteString("SELECT ")
	for _, name := range s.key {
		out.WriteString("t." + quote(name) + "::text, ")
	}
	out.WriteString("t.xmin::text")
	for _, column := range s.table.columns {
		out.WriteString(", t." + quote(column.name))
	}
	return out.String() + " FROM " + s.table.sql() + " AS t"
}

// within is the condition of a range, and its parameters.
func (s *Server) within(part table.Range) (string, [][]byte, error) {
	var conditions []string
	var parameters [][]byte
	for _, bound := range []struct {
		key      table.Key
		operator string
	}{{part.From, " > "}, {part.To, " <= "}} {
		if bound.key == nil {
			continue
		}
		if len(bound.key) != len(s.key) {
			return "", nil, fault.Input("key "+bound.key.String(), "the primary key has "+strconv.Itoa(len(s.key))+" columns: "+strings.Join(s.key, ", "),
				"write a list of as many texts, such as [\"…\", \"…\"]")
		}
		places := make([]string, len(bound.key))
		for i, value := range bound.key {
			parameters = append(parameters, []byte(value))
			places[i] = parameter(len(parameters), s.table.keyTypes[i])
		}
		conditions = append(conditions, "("+s.keyColumns("")+")"+bound.operator+"("+strings.Join(places, ", ")+")")
	}
	if conditions == nil {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(conditions, " AND "), parameters, nil
}

func (s *Server) keyColumns(after string) string {
	names := make([]string, len(s.key))
	for i, name := range s.key {
		names[i] = "t." + quote(name) + after
	}
	return strings.Join(names, ", ")
}

// keyRows is a relation k of the keys in keyArrays: k1, k2, … and their number n.
func (s *Server) keyRows() string {
	arrays, names := make([]string, len(s.key)), make([]string, len(s.key))
	for i, typ := range s.table.keyTypes {
		arrays[i], names[i] = parameter(i+1, typ+"[]"), "k"+strconv.Itoa(i+1)
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS k(" + strings.Join(names, ", ") + ", n)"
}

func (s *Server) keyMatch() string {
	matches := make([]string, len(s.key))
	for i, name := range s.key {
		matches[i] = "t." + quote(name) + " " + s.table.equals[i] + " k.k" + strconv.Itoa(i+1)
	}
	return strings.Join(matches, " AND ")
}

// keyArrays are the keys, an array literal for each of their columns.
func (s *Server) keyArrays(keys []table.Key) [][]byte {
	arrays := make([][]byte, len(s.key))
	for i := range arrays {
		elements := make([]string, len(keys))
		for n, key := range keys {
			elements[n] = key[i]
		}
		arrays[i] = arrayOf(elements)
	}
	return arrays
}

var arrayEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// arrayOf is an array literal.
func arrayOf(elements []string) []byte {
	quoted := make([]string, len(elements))
	for i, element := range elements {
		quoted[i] = `"` + arrayEscape.Replace(element) + `"`
	}
	return []byte("{" + strings.Join(quoted, ",") + "}")
}
