package postgres

import (
	"context"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// triggersSQL names what may change a row between the statement and the table: row
// triggers before an update of the columns, in a session whose role is $3, of the
// table and its partitions; and rules in place of an update.
const triggersSQL = `SELECT DISTINCT 'trigger ' || pg_catalog.quote_ident(t.tgname) AS name
FROM pg_catalog.pg_trigger t
WHERE t.tgrelid IN (SELECT $1::oid UNION ALL SELECT p.relid FROM pg_catalog.pg_partition_tree($1::oid) p)
  AND NOT t.tgisinternal AND t.tgtype & 19 = 19
  AND (t.tgenabled = 'A' OR t.tgenabled = CASE WHEN $2::text = 'replica' THEN 'R' ELSE 'O' END)
  AND (t.tgattr::text = '' OR EXISTS (SELECT FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr::int2[]) AND a.attname::text = ANY ($3::text[])))
UNION SELECT 'rule ' || pg_catalog.quote_ident(r.rulename) FROM pg_catalog.pg_rewrite r
WHERE r.ev_class = $1::oid AND r.ev_type = '2' AND r.is_instead
  AND (r.ev_enabled = 'A' OR r.ev_enabled = CASE WHEN $2::text = 'replica' THEN 'R' ELSE 'O' END)
ORDER BY name`

// unchanged refuses a table whose triggers or rules may change what is written:
// lower() of an envelope is lost, and nobody would know before it is committed.
func (s *Server) unchanged(ctx context.Context, command table.Command) error {
	side := connections.Through
	if command == table.Unseal {
		side = connections.Direct
	}
	writer, err := s.Connected(ctx, side)
	if err != nil {
		return err
	}
	role, err := writer.query(ctx, "SELECT pg_catalog.current_setting('session_replication_role')::text", nil, nil)
	if err != nil {
		return err
	}
	server, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return err
	}
	names := make([]string, len(s.table.columns))
	for i, column := range s.table.columns {
		names[i] = column.name
	}
	parameters := append(texts(s.table.oid, string(role[0][0])), arrayOf(names))
	found, err := server.query(ctx, triggersSQL, parameters, nil)
	if err != nil || len(found) == 0 {
		return err
	}
	var told []string
	for _, one := range found {
		told = append(told, string(one[0]))
	}
	return fault.Input("table "+s.table.name.String(), "what is written may be changed by its "+strings.Join(told, ", ")+", and an envelope that is changed is lost",
		"see that they leave the protected columns alone and give --allow-triggers, or keep triggers still with options=-c session_replication_role=replica in the URL of "+writer.flag)
}
