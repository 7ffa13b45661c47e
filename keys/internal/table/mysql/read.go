package mysql

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

const (
	// maxPageBytes is what a page may take in memory before it ends early.
	maxPageBytes = 16 << 20
	// maxKeys are named in one statement at most: past a thousand MariaDB makes a table of them.
	maxKeys = 512
)

// Read gives stored rows of a range in the order of their keys.
func (s *Server) Read(ctx context.Context, part table.Range, limit int) ([]table.Row, error) {
	where, parameters, err := s.within(part)
	if err != nil {
		return nil, err
	}
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	found, err := server.queryUpTo(ctx, maxPageBytes, s.selectStored()+where+" ORDER BY "+s.keyColumns("")+" LIMIT ?", append(parameters, limit))
	if err != nil {
		return nil, err
	}
	return s.rows(found)
}

// Get gives the stored rows with these keys that there are.
func (s *Server) Get(ctx context.Context, keys []table.Key) ([]table.Row, error) {
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	return s.storedRows(ctx, server, keys, "")
}

// storedRows reads rows by their keys, and may lock them.
func (s *Server) storedRows(ctx context.Context, session *session, keys []table.Key, locking string) ([]table.Row, error) {
	var rows []table.Row
	for part := range slices.Chunk(keys, maxKeys) {
		where, parameters := s.among(part)
		found, err := session.query(ctx, s.selectStored()+where+locking, parameters...)
		if err != nil {
			return nil, err
		}
		read, err := s.rows(found)
		if err != nil {
			return nil, err
		}
		rows = append(rows, read...)
	}
	return rows, nil
}

// peek gives rows as they are in a transaction that holds their locks and is not committed yet.
func (s *Server) peek(ctx context.Context, keys []table.Key) (map[string]table.Row, error) {
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return nil, err
	}
	if err := server.do(ctx, "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); err != nil {
		return nil, err
	}
	if err := server.begin(ctx); err != nil {
		return nil, err
	}
	defer server.rollback(ctx)
	rows, err := s.storedRows(ctx, server, keys, "")
	if err != nil {
		return nil, err
	}
	byKey := map[string]table.Row{}
	for _, row := range rows {
		byKey[row.Key.String()] = row
	}
	return byKey, nil
}

func (s *Server) rows(found [][][]byte) ([]table.Row, error) {
	rows := make([]table.Row, len(found))
	for i, values := range found {
		key, err := s.keyOf(values)
		if err != nil {
			return nil, err
		}
		stored := values[len(key):]
		rows[i] = table.Row{Key: key, Version: versionOf(stored), Values: stored}
	}
	return rows, nil
}

func (s *Server) keyOf(values [][]byte) (table.Key, error) {
	key := make(table.Key, len(s.table.key))
	for i := range key {
		key[i] = string(values[i])
		if strings.ContainsRune(key[i], 0) {
			return nil, fault.Input("table "+s.table.name.String(), "the primary key of a row holds a NUL", "give the table a primary key of numbers, or one that is binary")
		}
	}
	return key, nil
}

// versionOf is a digest of stored values; NULL and an empty value differ.
func versionOf(values [][]byte) string {
	digest := sha256.New()
	for _, value := range values {
		length := uint64(math.MaxUint64)
		if value != nil {
			length = uint64(len(value))
		}
		digest.Write(binary.BigEndian.AppendUint64(nil, length))
		digest.Write(value)
	}
	return hex.EncodeToString(digest.Sum(nil))
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
	places := make([]string, len(key))
	parameters := make([]any, len(key))
	for i, part := range s.table.key {
		// What a text is read as must be what it says.
		places[i], parameters[i] = fmt.Sprintf(part.shown, "("+fmt.Sprintf(part.given, "?")+")"), key[i]
	}
	rows, err := session.query(ctx, "SELECT "+strings.Join(places, ", "), parameters...)
	var row *table.RowError
	if err != nil && !errors.As(err, &row) {
		return err
	}
	for i, part := range s.table.key {
		if err != nil || rows[0][i] == nil || !part.same(string(rows[0][i]), key[i]) {
			return fault.Input(place, "not a key: the primary key is "+strings.Join(s.Key(), ", "),
				"give a value of that type, or let fieldveil table ranges make them")
		}
	}
	return nil
}

// same compares a text with what the server made of it; of a time it may be told with more digits.
func (k keyColumn) same(made, given string) bool {
	if strings.HasSuffix(k.given, "(6))") {
		return strings.TrimRight(strings.TrimRight(made, "0"), ".") == strings.TrimRight(strings.TrimRight(given, "0"), ".") || made == given
	}
	return strings.EqualFold(made, given)
}

// Estimate counts the range, or is what the server takes the table for where that takes long.
func (s *Server) Estimate(ctx context.Context, part table.Range) (int64, error) {
	where, parameters, err := s.within(part)
	if err != nil {
		return 0, err
	}
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return 0, err
	}
	// Of the two limits of time each kind of server reads its own.
	count := "SELECT /*+ MAX_EXECUTION_TIME(2000) */ COUNT(*) FROM " + s.table.sql() + " AS t" + where
	if session.mariadb {
		count = "SET STATEMENT max_statement_time = 2 FOR " + count
	}
	rows, err := session.query(ctx, count, parameters...)
	if err != nil {
		rows, err = session.query(ctx, "SELECT COALESCE(TABLE_ROWS, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
			s.table.name.Schema, s.table.name.Name)
	}
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
	tiles := "SELECT " + s.keyColumns("") + ", NTILE(" + strconv.Itoa(count) + ") OVER (ORDER BY " + s.keyColumns("") + ") AS fieldveil_tile FROM " + s.table.sql() + " AS t"
	last := "SELECT t.*, ROW_NUMBER() OVER (PARTITION BY t.fieldveil_tile ORDER BY " + s.keyColumns(" DESC") + ") AS fieldveil_place FROM (" + tiles + ") AS t"
	rows, err := session.query(ctx, "SELECT "+strings.Join(s.shownKey(), ", ")+" FROM ("+last+") AS t WHERE t.fieldveil_place = 1 ORDER BY t.fieldveil_tile")
	if err != nil {
		return nil, err
	}
	var keys []table.Key
	for _, row := range rows[:max(len(rows)-1, 0)] {
		key, err := s.keyOf(row)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// selectStored selects key and the columns of the table, which is t.
func (s *Server) selectStored() string {
	names := s.shownKey()
	for _, column := range s.table.columns {
		names = append(names, "t."+quote(column.name))
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + s.table.sql() + " AS t"
}

func (s *Server) shownKey() []string {
	shown := make([]string, len(s.table.key))
	for i, part := range s.table.key {
		shown[i] = fmt.Sprintf(part.shown, "t."+quote(part.name))
	}
	return shown
}

func (s *Server) keyColumns(after string) string {
	names := make([]string, len(s.table.key))
	for i, part := range s.table.key {
		names[i] = "t." + quote(part.name) + after
	}
	return strings.Join(names, ", ")
}

// givenKey is a place for each column of a key, such as (?, CAST(? AS SIGNED)).
func (s *Server) givenKey() string {
	places := make([]string, len(s.table.key))
	for i, part := range s.table.key {
		places[i] = fmt.Sprintf(part.given, "?")
	}
	return "(" + strings.Join(places, ", ") + ")"
}

// within is the condition of a range, and its parameters.
func (s *Server) within(part table.Range) (string, []any, error) {
	var conditions []string
	var parameters []any
	for _, bound := range []struct {
		key      table.Key
		operator string
	}{{part.From, " > "}, {part.To, " <= "}} {
		if bound.key == nil {
			continue
		}
		if len(bound.key) != len(s.table.key) {
			return "", nil, fault.Input("key "+bound.key.String(), "the primary key has "+strconv.Itoa(len(s.table.key))+" columns: "+strings.Join(s.Key(), ", "),
				"write a list of as many texts, such as [\"…\", \"…\"]")
		}
		parameters = append(parameters, keyParameters(bound.key)...)
		conditions = append(conditions, "("+s.keyColumns("")+")"+bound.operator+s.givenKey())
	}
	if conditions == nil {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(conditions, " AND "), parameters, nil
}

// among is the condition that a row has one of the keys. The last stands there several times, so that few texts serve
// any number.
func (s *Server) among(keys []table.Key) (string, []any) {
	places := 1
	for places < len(keys) {
		places *= 2
	}
	var parameters []any
	for i := range places {
		parameters = append(parameters, keyParameters(keys[min(i, len(keys)-1)])...)
	}
	given := strings.TrimSuffix(strings.Repeat(s.givenKey()+", ", places), ", ")
	return " WHERE (" + s.keyColumns("") + ") IN (" + given + ")", parameters
}

func keyParameters(key table.Key) []any {
	parameters := make([]any, len(key))
	for i, part := range key {
		parameters[i] = part
	}
	return parameters
}
