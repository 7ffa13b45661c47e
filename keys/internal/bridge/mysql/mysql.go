// Package mysql gets into TLS as the protocol of MySQL and MariaDB has it: by an SSLRequest between the server's greeting
// and the client's response (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html).
//
// To the client the server has no TLS. So what the client proves its password by, and what it encrypts a password with,
// is that of a way without TLS; to the server the way is encrypted.
package mysql

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
)

// Protocol is MySQL's and MariaDB's.
type Protocol struct {
	// LoginTimeout is how long a client may take to answer the greeting, and then to log in.
	LoginTimeout time.Duration
}

// Establish passes the greeting without its offer of TLS, takes the client's response, begins TLS with the server, and
// passes the rest of the login. An error is told to the client.
func (p Protocol) Establish(ctx context.Context, client net.Conn, server *upstream.Server) (*peer.Conn, *peer.Refusal) {
	raw, refusal := server.Dial(ctx)
	if refusal != nil {
		p.Refuse(client, refusal)
		return nil, refusal
	}
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	h := &handshake{timeout: p.LoginTimeout, server: server, raw: raw, teller: teller{client: client}}
	secure, refusal := h.run(ctx)
	if refusal != nil {
		raw.Close()
		h.refuse(refusal)
		return nil, refusal
	}
	return secure, nil
}

// handshake is what is spoken until the session has begun.
type handshake struct {
	timeout time.Duration
	server  *upstream.Server
	raw     *net.TCPConn
	teller
}

func (h *handshake) run(ctx context.Context) (*peer.Conn, *peer.Refusal) {
	// The greeting, without its offer of TLS.
	greeting, number, refusal := h.greet()
	if refusal != nil {
		return nil, refusal
	}
	// What the client answers.
	response, refusal := h.takeResponse(number + 1)
	if refusal != nil {
		return nil, refusal
	}
	// TLS, which is asked for in the response's place.
	_ = h.raw.SetDeadline(time.Now().Add(h.server.HandshakeTimeout))
	if _, err := h.raw.Write(packet{number + 1, response.sslRequest()}.bytes()); err != nil {
		return nil, h.server.Classify(err)
	}
	secure, refusal := h.server.StartTLS(ctx, h.raw)
	if refusal != nil {
		return nil, refusal
	}
	// The response, and the rest of the login.
	_ = secure.SetDeadline(time.Now().Add(h.timeout + h.server.HandshakeTimeout))
	_ = h.client.SetDeadline(time.Now().Add(h.timeout))
	if _, err := secure.Write(packet{number + 2, response.withTLS()}.bytes()); err != nil {
		return nil, h.server.Classify(err)
	}
	l := &login{client: h.client, server: secure, endsServersTLS: true, state: loginState{
		client: number + 1, server: number + 2, plugin: response.plugin(), scramble: greeting.scramble(), awaitsServer: true,
	}}
	if failed := l.run(); failed != nil {
		h.next = l.state.client + 1
		return nil, h.loginRefusal(failed)
	}
	return secure, nil
}

// greet passes the greeting on, and gives it with its number.
func (h *handshake) greet() (greeting, byte, *peer.Refusal) {
	p, err := readPacket(h.raw)
	if err != nil {
		return greeting{}, 0, h.serverError(err)
	}
	if first, ok := p.first(); ok && first == errPacket {
		// As with too many connections: the server's own word, which a client without TLS would get too.
		_, _ = h.client.Write(p.bytes())
		h.told = true
		return greeting{}, 0, peer.Refuse(peer.ServerRefused, h.server.Address, "the server answered with an error in place of its greeting", "see what the client was told")
	}
	g, err := parseGreeting(p.payload)
	if err != nil {
		return greeting{}, 0, h.serverError(err)
	}
	if !g.offersTLS() {
		return greeting{}, 0, peer.Refuse(peer.NoTLS, h.server.Address, "the server does not offer TLS", "give it a certificate (ssl_cert, ssl_key)")
	}
	if _, err := h.client.Write(packet{p.sequence, g.withoutTLS()}.bytes()); err != nil {
		return greeting{}, 0, h.clientError(err)
	}
	h.next = p.sequence + 1
	return g, p.sequence, nil
}

func (h *handshake) takeResponse(number byte) (response, *peer.Refusal) {
	_ = h.client.SetDeadline(time.Now().Add(h.timeout))
	p, err := readPacket(h.client)
	if err != nil {
		return response{}, h.clientError(err)
	}
	h.next = p.sequence + 1
	if p.sequence != number {
		return response{}, h.clientError(errSequence)
	}
	r, err := parseResponse(p.payload)
	if err != nil {
		return response{}, h.clientError(err)
	}
	h.knowsStates = true
	return r, nil
}

func (h *handshake) loginRefusal(failed *loginError) *peer.Refusal {
	if failed.fromClient {
		return h.clientError(failed.err)
	}
	switch {
	case errors.Is(failed.err, os.ErrDeadlineExceeded):
		return h.server.Timeout()
	case errors.Is(failed.err, net.ErrClosed), errors.Is(failed.err, errServerGone):
		return peer.Refuse(peer.ServerDisconnected, h.server.Address, "the server closed the connection within the login", "see the server's log")
	}
	return h.serverError(failed.err)
}

// serverError is of the server's packets, before or within TLS.
func (h *handshake) serverError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, errGreeting), errors.Is(err, errSequence):
		return peer.Refuse(peer.BadServer, h.server.Address, "it sent "+err.Error(), "see whether a MySQL or MariaDB server answers there")
	}
	return h.server.Classify(err)
}

func (h *handshake) clientError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return peer.Refuse(peer.ClientTimeout, "the client", "it did not log in within "+h.timeout.String(), "see what the sidecar waits for, or raise --first-packet-timeout")
	case errors.Is(err, errTooLong), errors.Is(err, errSequence), errors.Is(err, errResponse), errors.Is(err, errAsksForTLS), errors.Is(err, errPassword):
		return peer.Refuse(peer.BadClient, "the client", "it sent "+err.Error(), "connect with protocol 4.1, without TLS, by way of the sidecar")
	}
	return peer.Refuse(peer.BadClient, "the client", "it closed the connection before it had logged in", "see the sidecar's log")
}
