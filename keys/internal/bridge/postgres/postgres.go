// Package postgres gets into TLS as PostgreSQL's protocol has it: by an SSLRequest, or at once by ALPN
// (https://www.postgresql.org/docs/current/protocol-flow.html, "SSL Session Encryption").
package postgres

import (
	"context"
	"encoding/binary"
	"net"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
)

// ALPN is the name of PostgreSQL's protocol within TLS.
const ALPN = "postgresql"

// firstBytes of the server are passed on before all else: an alert of TLS in their place is still told to the client.
const firstBytes = 1024

// Protocol is PostgreSQL's.
type Protocol struct {
	// Direct begins TLS at once, without an SSLRequest: PostgreSQL 17 and later.
	Direct bool
	// FirstPacketTimeout is how long a client may take to send what it begins with.
	FirstPacketTimeout time.Duration
}

// Establish takes the client's first packet, begins TLS with the server, and passes on that packet and the first bytes
// of the answer. An error is told to the client.
func (p Protocol) Establish(ctx context.Context, client net.Conn, server *upstream.Server) (*peer.Conn, *peer.Refusal) {
	first, refusal := p.readFirstPacket(client)
	if refusal != nil {
		p.Refuse(client, refusal)
		return nil, refusal
	}
	secure, refusal := p.startTLS(ctx, server)
	if refusal == nil {
		refusal = p.introduce(first, client, secure, server)
	}
	if refusal != nil {
		// Nobody reads an answer to a CancelRequest.
		if !first.isCancel() {
			p.Refuse(client, refusal)
		}
		return nil, refusal
	}
	return secure, nil
}

// readFirstPacket declines encryption, which the way from Envoy does not need, and gives what comes then.
func (p Protocol) readFirstPacket(client net.Conn) (firstPacket, *peer.Refusal) {
	reader := packetReader{p.FirstPacketTimeout, "connect with PostgreSQL's protocol 3, without TLS, by way of the sidecar"}
	_ = client.SetDeadline(time.Now().Add(p.FirstPacketTimeout))
	for range maxRequests + 1 {
		packet, refusal := reader.readHead(client)
		if refusal == nil {
			packet, refusal = reader.readRest(client, packet)
		}
		if refusal != nil {
			return nil, refusal
		}
		if !packet.asksForEncryption() {
			_ = client.SetDeadline(time.Time{})
			return packet, nil
		}
		if refusal := reader.answer(client, 'N'); refusal != nil {
			return nil, refusal
		}
	}
	return nil, reader.malformed(againAndAgain)
}

func (p Protocol) startTLS(ctx context.Context, server *upstream.Server) (*peer.Conn, *peer.Refusal) {
	raw, refusal := server.Dial(ctx)
	if refusal != nil {
		return nil, refusal
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	if !p.Direct {
		refusal = requestTLS(raw, server)
	}
	var secure *peer.Conn
	if refusal == nil {
		secure, refusal = server.StartTLS(ctx, raw)
	}
	if refusal == nil && p.Direct && secure.ConnectionState().NegotiatedProtocol != ALPN {
		refusal = peer.Refuse(peer.BadServer, server.Address, "what answers does not name the protocol "+ALPN+" (ALPN)",
			"see whether a PostgreSQL server, 17 or later, answers there; else leave --direct-tls out")
	}
	if refusal != nil {
		raw.Close()
		return nil, refusal
	}
	return secure, nil
}

// requestTLS asks for TLS. The answer is one byte, and only a yes leads on: nothing that was said in plain text is
// trusted, not even the text of an error (CVE-2024-10977).
func requestTLS(raw net.Conn, server *upstream.Server) *peer.Refusal {
	request := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), sslRequest)
	if _, err := raw.Write(request); err != nil {
		return server.Classify(err)
	}
	answer := make([]byte, 1)
	if _, err := raw.Read(answer); err != nil {
		return server.Classify(err)
	}
	switch answer[0] {
	case 'S':
		return nil
	case 'N':
		return peer.Refuse(peer.NoTLS, server.Address, "the server does not offer TLS", "set ssl = on at the server")
	case 'E':
		return peer.Refuse(peer.ServerRefused, server.Address, "the server answered the request for TLS with an error, which is not read because nothing protects it",
			"see the server's log")
	}
	return peer.Refuse(peer.BadServer, server.Address, "what answers the request for TLS is no PostgreSQL server", "see whether --server names the right port")
}

// introduce sends the first packet, and passes on the first bytes of the answer.
func (p Protocol) introduce(first firstPacket, client net.Conn, secure *peer.Conn, server *upstream.Server) *peer.Refusal {
	_ = secure.SetDeadline(time.Now().Add(server.HandshakeTimeout))
	if _, err := secure.Write(first); err != nil {
		secure.Close()
		return server.Classify(err)
	}
	if !first.isCancel() {
		answer := make([]byte, firstBytes)
		n, err := secure.Read(answer)
		if n == 0 {
			secure.Close()
			return server.Classify(err)
		}
		if _, err := client.Write(answer[:n]); err != nil {
			secure.Close()
			return peer.Refuse(peer.BadClient, "the client", "it closed the connection", "see the sidecar's log")
		}
	}
	_ = secure.SetDeadline(time.Time{})
	return nil
}
