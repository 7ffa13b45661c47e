package postgres

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// writePatience is how long a client may take to take the error.
const writePatience = time.Second

// Codes of PostgreSQL's appendix "PostgreSQL Error Codes".
const (
	unableToConnect    = "08001" // sqlclient_unable_to_establish_sqlconnection
	rejectedConnection = "08004" // sqlserver_rejected_establishment_of_sqlconnection
	connectionFailure  = "08006" // connection_failure
	protocolViolation  = "08P01" // protocol_violation
	invalidAuth        = "28000" // invalid_authorization_specification, as the server says where TLS is demanded
	tooManyConnections = "53300" // too_many_connections
)

func sqlstate(cause peer.Cause) string {
	switch cause {
	case peer.BadClient, peer.ClientTimeout:
		return protocolViolation
	case peer.PlainClient:
		return invalidAuth
	case peer.TooMany:
		return tooManyConnections
	case peer.NoTLS, peer.ServerRefused:
		return rejectedConnection
	case peer.Plaintext, peer.BadServer, peer.HandshakeFailed, peer.ServerDisconnected:
		return connectionFailure
	}
	return unableToConnect
}

// Refuse tells the client why its session can not begin.
func (p Protocol) Refuse(client net.Conn, refusal *peer.Refusal) { refuse(client, refusal) }

// Refuse tells a client that has not begun TLS why its session can not begin.
func (c Clients) Refuse(client net.Conn, refusal *peer.Refusal) { refuse(client, refusal) }

func refuse(client net.Conn, refusal *peer.Refusal) {
	message := pgproto3.ErrorResponse{
		Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: sqlstate(refusal.Cause), Message: "fieldveil bridge: " + refusal.Error(),
	}
	bytes, err := message.Encode(nil)
	if err != nil {
		return // longer than a message can be: no refusal is
	}
	_ = client.SetWriteDeadline(time.Now().Add(writePatience))
	_, _ = client.Write(bytes) // a client that is gone needs no answer
}
