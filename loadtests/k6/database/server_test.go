package database

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// answers is what a server that speaks just enough of the protocol says to simple queries, by their text.
type answers map[string][]pgproto3.BackendMessage

// hangUp, among the messages of an answer, ends the connection.
type hangUp struct{ pgproto3.BackendMessage }

// serve gives the connection string of such a server.
func serve(t *testing.T, answers answers) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go speak(conn, answers)
		}
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	return "host=127.0.0.1 user=app dbname=test sslmode=disable port=" + strconv.Itoa(port)
}

func speak(conn net.Conn, answers answers) {
	defer conn.Close()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	backend.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	for {
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if backend.Flush() != nil {
			return
		}
		message, err := backend.Receive()
		query, is := message.(*pgproto3.Query)
		if err != nil || !is {
			return
		}
		for _, answer := range answers[strings.TrimSuffix(query.String, ";")] {
			if _, ends := answer.(hangUp); ends {
				_ = backend.Flush()
				return
			}
			backend.Send(answer)
		}
	}
}

// OIDs of types, as PostgreSQL has them.
const (
	oidBool      = 16
	oidBytea     = 17
	oidInt8      = 20
	oidText      = 25
	oidDate      = 1082
	oidTimestamp = 1114
	oidNumeric   = 1700
)

// columns is the head of an answer: a name and an OID for each.
func columns(named ...any) *pgproto3.RowDescription {
	head := &pgproto3.RowDescription{}
	for i := 0; i < len(named); i += 2 {
		name, oid := named[i].(string), uint32(named[i+1].(int))
		head.Fields = append(head.Fields, pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid, TypeModifier: -1})
	}
	return head
}

// row is cells in the text format; "NULL" is none.
func row(cells ...string) *pgproto3.DataRow {
	made := &pgproto3.DataRow{}
	for _, cell := range cells {
		if cell == "NULL" {
			made.Values = append(made.Values, nil)
		} else {
			made.Values = append(made.Values, []byte(cell))
		}
	}
	return made
}

func complete(tag string) *pgproto3.CommandComplete {
	return &pgproto3.CommandComplete{CommandTag: []byte(tag)}
}

func refused(state, text string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: state, Message: text, Detail: "Key (ssn)=(078-05-1120)",
	}
}
