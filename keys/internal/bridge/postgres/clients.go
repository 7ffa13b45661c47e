package postgres

import (
	"context"
	"net"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// handshakeRecord is what a client begins with that begins TLS at once: the type of TLS's first record. In a first packet
// it would be a length that is far beyond the limit.
const handshakeRecord = 0x16

// Clients is how PostgreSQL's clients begin TLS.
type Clients struct {
	// FirstPacketTimeout is how long a client may take to send what it begins with, before TLS and again within it.
	FirstPacketTimeout time.Duration
	// PassSCRAM leaves logins as they are: where no TLS lies between Envoy and the server.
	PassSCRAM bool
}

// Accept begins TLS with the client, takes its first packet and passes it on to Envoy, and then the begin of its
// login. An error is told to the client.
func (c Clients) Accept(ctx context.Context, client peer.Socket, door *downstream.Door) (*downstream.Session, *peer.Refusal) {
	e := &entrance{
		door: door, socket: client, client: client, passSCRAM: c.PassSCRAM,
		reader: packetReader{c.FirstPacketTimeout, "connect with PostgreSQL's protocol 3"},
	}
	session, refusal := e.run(ctx)
	if refusal != nil {
		e.refuse(refusal)
	}
	return session, refusal
}

// entrance is what is spoken with a client until its first packet is with Envoy.
type entrance struct {
	door   *downstream.Door
	reader packetReader
	socket peer.Socket
	// passSCRAM leaves the login as it is.
	passSCRAM bool

	client peer.Stream // the socket, and TLS on it once that has begun
	// isSilent says that the client can be told nothing: its TLS has failed, or it asked for a cancellation.
	isSilent bool
}

func (e *entrance) run(ctx context.Context) (*downstream.Session, *peer.Refusal) {
	// TLS, and the packet behind it.
	first, refusal := e.firstPacket(ctx)
	if refusal != nil {
		return nil, refusal
	}
	e.isSilent = first.isCancel()
	if !e.isWithinTLS() && !e.mayBePlain(first) {
		return nil, downstream.RefusePlain("use sslmode=verify-full, or let clients without TLS in by --allow-plain")
	}
	// The way on.
	names, refusal := downstream.NamesOf(e.client)
	if refusal != nil {
		return nil, refusal
	}
	envoy, refusal := e.door.Dial(ctx, e.socket, names)
	if refusal != nil {
		return nil, refusal
	}
	if refusal := e.introduce(ctx, first, envoy); refusal != nil {
		envoy.Close()
		return nil, refusal
	}
	return &downstream.Session{Client: e.client, Envoy: envoy}, nil
}

// introduce passes the first packet on, and the login as far as the client's TLS changes something in it.
func (e *entrance) introduce(ctx context.Context, first firstPacket, envoy net.Conn) *peer.Refusal {
	if _, err := envoy.Write(first); err != nil {
		return e.door.Classify(err)
	}
	if first.isCancel() || !e.isWithinTLS() || e.passSCRAM {
		return nil
	}
	_ = e.socket.SetDeadline(time.Now().Add(e.reader.timeout))
	_ = envoy.SetDeadline(time.Now().Add(e.reader.timeout + e.door.HandshakeTimeout))
	l := &login{client: e.client, envoy: envoy, timeout: e.reader.timeout.String()}
	if refusal := l.run(ctx); refusal != nil {
		return refusal
	}
	_ = e.socket.SetDeadline(time.Time{})
	_ = envoy.SetDeadline(time.Time{})
	return nil
}

// mayBePlain lets CancelRequests in without TLS, as the server does: many clients send them so for a session within TLS.
func (e *entrance) mayBePlain(first firstPacket) bool { return e.door.AllowPlain || first.isCancel() }

func (e *entrance) isWithinTLS() bool { return e.client != peer.Stream(e.socket) }

// firstPacket begins TLS where the client asks for it, declines other encryption, and gives what comes then.
func (e *entrance) firstPacket(ctx context.Context) (firstPacket, *peer.Refusal) {
	for range maxRequests + 1 {
		_ = e.socket.SetDeadline(time.Now().Add(e.reader.timeout))
		packet, refusal := e.reader.readHead(e.client)
		if refusal != nil {
			return nil, refusal
		}
		if packet[0] == handshakeRecord && !e.isWithinTLS() {
			if refusal := e.startDirectTLS(ctx, packet); refusal != nil {
				return nil, refusal
			}
			continue
		}
		if packet, refusal = e.reader.readRest(e.client, packet); refusal != nil {
			return nil, refusal
		}
		switch {
		case packet.code() == sslRequest && !e.isWithinTLS():
			refusal = e.grantTLS(ctx)
		case packet.asksForEncryption():
			refusal = e.reader.answer(e.client, 'N')
		default:
			_ = e.socket.SetDeadline(time.Time{})
			return packet, nil
		}
		if refusal != nil {
			return nil, refusal
		}
	}
	return nil, e.reader.malformed(againAndAgain)
}

// grantTLS answers an SSLRequest with yes.
func (e *entrance) grantTLS(ctx context.Context) *peer.Refusal {
	if refusal := e.door.RefusePending(e.socket); refusal != nil {
		return refusal
	}
	if refusal := e.reader.answer(e.client, 'S'); refusal != nil {
		return refusal
	}
	return e.startTLS(ctx, nil)
}

// startDirectTLS begins TLS with a client that did not ask for it. It has to name the protocol, as the server demands:
// or what is meant for another service would be taken for PostgreSQL's.
func (e *entrance) startDirectTLS(ctx context.Context, begun []byte) *peer.Refusal {
	if refusal := e.startTLS(ctx, begun); refusal != nil {
		return refusal
	}
	if e.client.(*peer.Conn).ConnectionState().NegotiatedProtocol != ALPN {
		return e.reader.malformed("no name of the protocol (ALPN) with TLS that it began without an SSLRequest")
	}
	return nil
}

func (e *entrance) startTLS(ctx context.Context, begun []byte) *peer.Refusal {
	secure, refusal := e.door.StartTLS(ctx, e.socket, begun)
	if refusal != nil {
		e.isSilent = true
		return refusal
	}
	e.client = secure
	return nil
}

func (e *entrance) refuse(refusal *peer.Refusal) {
	if e.isSilent {
		return
	}
	refuse(e.client, refusal)
	if secure, ok := e.client.(*peer.Conn); ok {
		_ = secure.Conn.CloseWrite() // the end of what it is told, within TLS
	}
}
