package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Codes of AuthenticationXXX.
const (
	authOK           = 0
	authCleartext    = 3
	authSASL         = 10
	authSASLContinue = 11
	authSASLFinal    = 12
)

const (
	authenticationTag = 'R'
	passwordTag       = 'p'
	// messageHead is the tag and the length.
	messageHead = 5
	// maxLoginMessage has room for an ErrorResponse with all of its fields, and for tickets of Kerberos.
	maxLoginMessage = 128 << 10
)

var errLoginMessage = errors.New("a message that is none of a login's")

// login passes a login until it can go on without the bridge.
//
// A client within TLS that knows channel binding and was not offered it says so, and signs that ("y" in RFC 5802, section
// 6). A server within TLS of its own then takes it for an attack, as it has to: both can bind, and each to another TLS.
// So in place of the server's offer a client is asked for its password, within its TLS, and the bridge proves it to the
// server. It comes in place of the offer, and not after the client's answer, since many clients take nothing else there.
type login struct {
	client  net.Conn // within TLS
	envoy   net.Conn
	timeout string // as the flag has it
}

// message is one of the protocol's, with its head.
type message []byte

func (m message) tag() byte { return m[0] }

func (m message) body() []byte { return m[messageHead:] }

// authentication is the code of AuthenticationXXX, or -1.
func (m message) authentication() int {
	if m.tag() != authenticationTag || len(m.body()) < 4 {
		return -1
	}
	return int(binary.BigEndian.Uint32(m.body()))
}

func newMessage(tag byte, body []byte) message {
	m := binary.BigEndian.AppendUint32([]byte{tag}, uint32(len(body)+4))
	return append(m, body...)
}

// readMessage reads one, and not one byte more.
func readMessage(from io.Reader) (message, error) {
	head := make([]byte, messageHead)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length < 4 || length > maxLoginMessage {
		return nil, errLoginMessage
	}
	m := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(from, m[messageHead:])
	return m, err
}

// run returns when all that follows can pass as it is.
func (l *login) run(ctx context.Context) *peer.Refusal {
	defer context.AfterFunc(ctx, func() { l.envoy.Close() })()
	for {
		m, err := readMessage(l.envoy)
		if err != nil {
			return l.envoyError(err)
		}
		if m.authentication() == authSASL && offers(m, scramSHA256) {
			return l.prove()
		}
		if _, err := l.client.Write(m); err != nil {
			return l.clientError(err)
		}
		if m.tag() != 'N' && m.tag() != 'v' { // NoticeResponse, NegotiateProtocolVersion
			return nil
		}
	}
}

// offers says whether an AuthenticationSASL offers a mechanism: their names, each with its NUL.
func offers(m message, mechanism string) bool {
	return slices.Contains(strings.Split(string(m.body()[4:]), "\x00"), mechanism)
}

// prove asks the client for its password and proves it to the server.
func (l *login) prove() *peer.Refusal {
	if _, err := l.client.Write(newMessage(authenticationTag, []byte{0, 0, 0, authCleartext})); err != nil {
		return l.clientError(err)
	}
	m, err := readMessage(l.client)
	if err != nil {
		return l.clientError(err)
	}
	password, ok := bytes.CutSuffix(m.body(), []byte{0})
	if m.tag() != passwordTag || !ok {
		return l.clientError(errLoginMessage)
	}
	s := newScram(string(password))

	// The client's first message, and what the server asks by.
	first := s.first()
	initial := append([]byte(scramSHA256+"\x00"), binary.BigEndian.AppendUint32(nil, uint32(len(first)))...)
	answer, refusal := l.ask(append(initial, first...), authSASLContinue)
	if answer == nil {
		return refusal
	}
	final, err := s.final(string(answer))
	if err != nil {
		return l.envoyError(err)
	}
	// The proof, and the server's.
	if answer, refusal = l.ask([]byte(final), authSASLFinal); answer == nil {
		return refusal
	}
	if err := s.verify(string(answer)); err != nil {
		return l.envoyError(err)
	}
	return nil // AuthenticationOk follows
}

// ask sends the server a message of SCRAM, and gives its answer. Any other answer, an error, is passed to the client:
// then there is none.
func (l *login) ask(body []byte, code int) ([]byte, *peer.Refusal) {
	if _, err := l.envoy.Write(newMessage(passwordTag, body)); err != nil {
		return nil, l.envoyError(err)
	}
	for {
		m, err := readMessage(l.envoy)
		if err != nil {
			return nil, l.envoyError(err)
		}
		if m.authentication() == code {
			return m.body()[4:], nil
		}
		if m.authentication() == authOK {
			return nil, l.envoyError(errLoginMessage) // before it has shown that it knows the password
		}
		if _, err := l.client.Write(m); err != nil {
			return nil, l.clientError(err)
		}
		if m.tag() != 'N' {
			return nil, nil
		}
	}
}

func (l *login) envoyError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return peer.Refuse(peer.ServerTimeout, "the server", "it did not go on with the login in time", "see its log and Envoy's")
	case errors.Is(err, errLoginMessage), errors.Is(err, errScram), errors.Is(err, errScramSignature):
		return peer.Refuse(peer.BadServer, "the server", "it sent "+err.Error(), "see whether --envoy names a listener for PostgreSQL")
	}
	return peer.Refuse(peer.ServerDisconnected, "the server", "the connection by way of Envoy ended within the login", "see Envoy's log, and whether its listener expects the PROXY protocol as --proxy-protocol says")
}

func (l *login) clientError(err error) *peer.Refusal {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return peer.Refuse(peer.ClientTimeout, "the client", "it did not log in within "+l.timeout, "see what it waits for, or raise --first-packet-timeout")
	case errors.Is(err, errLoginMessage):
		return peer.Refuse(peer.BadClient, "the client", "it sent "+err.Error(), "connect with PostgreSQL's protocol 3")
	}
	return peer.Refuse(peer.BadClient, "the client", "it closed the connection within the login", "see its log")
}
