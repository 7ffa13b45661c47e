package mysql

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Clients is how the clients of MySQL and MariaDB begin TLS.
type Clients struct {
	// LoginTimeout is how long a client may take to answer the greeting, and then to log in.
	LoginTimeout time.Duration
}

// Accept passes Envoy's greeting with an offer of TLS, begins TLS with the client, and passes the rest of the login. An
// error is told to the client.
func (c Clients) Accept(ctx context.Context, client peer.Socket, door *downstream.Door) (*downstream.Session, *peer.Refusal) {
	e := &entrance{timeout: c.LoginTimeout, door: door, socket: client, teller: teller{client: client}}
	session, refusal := e.run(ctx)
	if refusal != nil {
		e.refuse(refusal)
		if secure, ok := e.client.(*peer.Conn); ok {
			_ = secure.Conn.CloseWrite() // the end of what it is told, within TLS
		}
	}
	return session, refusal
}

// entrance is what is spoken with a client until its session has begun.
type entrance struct {
	timeout time.Duration
	door    *downstream.Door
	socket  peer.Socket
	teller
}

func (e *entrance) run(ctx context.Context) (*downstream.Session, *peer.Refusal) {
	var names downstream.CertificateNames
	if e.door.TellsNames() {
		names = downstream.NamesFollow
	}
	envoy, refusal := e.door.Dial(ctx, e.socket, names)
	if refusal != nil {
		return nil, refusal
	}
	defer context.AfterFunc(ctx, func() { envoy.Close() })()
	client, refusal := e.introduce(ctx, envoy)
	if refusal != nil {
		envoy.Close()
		return nil, refusal
	}
	return &downstream.Session{Client: client, Envoy: envoy}, nil
}

// introduce gives the client's connection, within TLS or without, when nothing has to be done any more but to move bytes.
func (e *entrance) introduce(ctx context.Context, envoy net.Conn) (peer.Stream, *peer.Refusal) {
	// The greeting, with an offer of TLS.
	number, refusal := e.greet(envoy)
	if refusal != nil {
		return nil, refusal
	}
	// A request for TLS, or a response of a client that goes on without.
	_ = e.socket.SetDeadline(time.Now().Add(e.timeout))
	p, refusal := e.take(number + 1)
	if refusal != nil {
		return nil, refusal
	}
	if !asksForTLS(p.payload) {
		return e.introducePlain(p, envoy)
	}
	if len(p.payload) != responseHead {
		return nil, e.clientError(errSSLRequest)
	}
	secure, refusal := e.door.StartTLS(ctx, e.socket, nil)
	if refusal != nil {
		e.told = true
		return nil, refusal
	}
	e.client = secure
	// The response within TLS, and the rest of the login.
	_ = secure.SetDeadline(time.Now().Add(e.timeout))
	if p, refusal = e.take(number + 2); refusal != nil {
		return nil, refusal
	}
	r, err := parseAnyResponse(p.payload)
	if err != nil || !asksForTLS(p.payload) {
		return nil, e.clientError(errResponse)
	}
	e.knowsStates = true
	_ = envoy.SetDeadline(time.Now().Add(e.timeout + e.door.HandshakeTimeout))
	if refusal := e.pass(packet{number + 1, r.withoutTLS()}, envoy); refusal != nil {
		return nil, refusal
	}
	l := &login{client: secure, server: envoy, state: loginState{client: number + 2, server: number + 1, awaitsServer: true}}
	if failed := l.run(); failed != nil {
		e.next = l.state.client + 1
		return nil, e.loginRefusal(failed)
	}
	return secure, nil
}

// introducePlain passes the response of a client without TLS. Nothing was put between, so its numbers are Envoy's.
func (e *entrance) introducePlain(p packet, envoy net.Conn) (peer.Stream, *peer.Refusal) {
	if _, err := parseAnyResponse(p.payload); err != nil {
		return nil, e.clientError(err)
	}
	e.knowsStates = true
	if !e.door.AllowPlain {
		return nil, downstream.RefusePlain("use ssl-mode=VERIFY_IDENTITY, or let clients without TLS in by --allow-plain")
	}
	if refusal := e.pass(p, envoy); refusal != nil {
		return nil, refusal
	}
	_ = e.socket.SetDeadline(time.Time{})
	return e.socket, nil
}

// pass passes the client's response on, behind the names of its certificate if Envoy was told that they follow.
func (e *entrance) pass(response packet, envoy net.Conn) *peer.Refusal {
	bytes := response.bytes()
	if e.door.TellsNames() {
		names, refusal := downstream.NamesOf(e.client)
		if refusal != nil {
			return refusal
		}
		if names == nil {
			names = downstream.CertificateNames("null")
		}
		bytes = append(packet{0, names}.bytes(), bytes...)
	}
	if _, err := envoy.Write(bytes); err != nil {
		return e.door.Classify(err)
	}
	return nil
}

// greet passes the greeting on, and gives its number.
func (e *entrance) greet(envoy net.Conn) (byte, *peer.Refusal) {
	// Envoy connects to the server, perhaps by a bridge of its own, before the server greets.
	_ = envoy.SetDeadline(time.Now().Add(e.door.ConnectTimeout + e.door.HandshakeTimeout))
	p, err := readPacket(envoy)
	if err != nil {
		return 0, e.envoyError(err)
	}
	if first, ok := p.first(); ok && first == errPacket {
		_, _ = e.client.Write(p.bytes())
		e.told = true
		return 0, peer.Refuse(peer.ServerRefused, e.door.Address, "an error came in the greeting's place", "see what the client was told")
	}
	g, err := parseGreeting(p.payload)
	if err != nil {
		return 0, e.envoyError(err)
	}
	if _, err := e.client.Write(packet{p.sequence, g.withTLS()}.bytes()); err != nil {
		return 0, e.clientError(err)
	}
	_ = envoy.SetDeadline(time.Time{})
	e.next = p.sequence + 1
	return p.sequence, nil
}

// take takes the client's next packet.
func (e *entrance) take(number byte) (packet, *peer.Refusal) {
	p, err := readPacket(e.client)
	if err != nil {
		return packet{}, e.clientError(err)
	}
	e.next = p.sequence + 1
	if p.sequence != number {
		return packet{}, e.clientError(errSequence)
	}
	return p, nil
}

func (e *entrance) loginRefusal(failed *loginError) *peer.Refusal {
	if failed.fromClient {
		return e.clientError(failed.err)
	}
	return e.envoyError(failed.err)
}

func (e *entrance) envoyError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, errGreeting), errors.Is(err, errSequence):
		return peer.Refuse(peer.BadServer, e.door.Address, "it sent "+err.Error(), "see whether --envoy names a listener for MySQL or MariaDB")
	}
	return e.door.Classify(err)
}

func (e *entrance) clientError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return peer.Refuse(peer.ClientTimeout, "the client", "it did not log in within "+e.timeout.String(), "see what it waits for, or raise --first-packet-timeout")
	case errors.Is(err, errTooLong), errors.Is(err, errSequence), errors.Is(err, errResponse), errors.Is(err, errSSLRequest):
		return peer.Refuse(peer.BadClient, "the client", "it sent "+err.Error(), "connect with protocol 4.1")
	}
	return peer.Refuse(peer.BadClient, "the client", "it closed the connection before it had logged in", "see its log")
}
