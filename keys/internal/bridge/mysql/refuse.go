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
)

func number(cause peer.Cause) (uint16, string) {
	if cause == peer.TooMany {
		return tooManyConnections, tooManyConnectionsState
	}
	return badHandshake, badHandshakeState
}

// Refuse tells the client, in the greeting's place, why its session can not begin.
func (p Protocol) Refuse(client net.Conn, refusal *peer.Refusal) {
	(&handshake{client: client}).refuse(refusal)
}

func (h *handshake) refuse(refusal *peer.Refusal) {
	if h.told {
		return
	}
	code, state := number(refusal.Cause)
	if !h.knowsStates {
		state = ""
	}
	_ = h.client.SetWriteDeadline(time.Now().Add(writePatience))
	_, _ = h.client.Write(errorPacket(h.next, code, state, "fieldveil bridge: "+refusal.Error()).bytes()) // a client that is gone needs no answer
}
