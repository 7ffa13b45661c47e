package mysql

import (
	"net"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// writePatience is how long a client may take to take the error.
const writePatience = time.Second

// Numbers and SQLSTATEs of MySQL's and MariaDB's references of errors.
const (
	tooManyConnections      = 1040 // ER_CON_COUNT_ERROR
	tooManyConnectionsState = "08004"
	badHandshake            = 1043 // ER_HANDSHAKE_ERROR
	badHandshakeState       = "08S01"
	secureTransport         = 3159 // ER_SECURE_TRANSPORT_REQUIRED
	secureTransportState    = "HY000"
)

func number(cause peer.Cause) (uint16, string) {
	switch cause {
	case peer.TooMany:
		return tooManyConnections, tooManyConnectionsState
	case peer.PlainClient:
		return secureTransport, secureTransportState
	}
	return badHandshake, badHandshakeState
}

// Refuse tells the client, in the greeting's place, why its session can not begin.
func (p Protocol) Refuse(client net.Conn, refusal *peer.Refusal) {
	(&teller{client: client}).refuse(refusal)
}

// Refuse tells the client, in the greeting's place, why its session can not begin.
func (c Clients) Refuse(client net.Conn, refusal *peer.Refusal) {
	(&teller{client: client}).refuse(refusal)
}

// teller tells a client why it is refused, in the form that it knows at this point.
type teller struct {
	client net.Conn
	// next is the sequence number of the packet that the client gets next.
	next byte
	// knowsStates says that the client has answered by protocol 4.1, whose errors have an SQLSTATE.
	knowsStates bool
	// told says that the client has the reason already, the server's own, or that its TLS has failed.
	told bool
}

func (t *teller) refuse(refusal *peer.Refusal) {
	if t.told {
		return
	}
	code, state := number(refusal.Cause)
	if !t.knowsStates {
		state = ""
	}
	_ = t.client.SetWriteDeadline(time.Now().Add(writePatience))
	_, _ = t.client.Write(errorPacket(t.next, code, state, "fieldveil bridge: "+refusal.Error()).bytes()) // a client that is gone needs no answer
}
