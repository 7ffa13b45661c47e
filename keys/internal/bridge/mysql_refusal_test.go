package bridge

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// wantError wants an ERR with this number, with an SQLSTATE where a client of protocol 4.1 has said what it is.
func wantError(t *testing.T, client side, sequence byte, code uint16, state string, reasons ...string) {
	t.Helper()
	number, payload := client.take()
	if len(payload) < 3 || payload[0] != 0xff || binary.LittleEndian.Uint16([]byte(payload[1:3])) != code || number != sequence {
		t.Fatalf("packet %d: %q", number, payload)
	}
	if !strings.HasPrefix(payload[3:], state+"fieldveil bridge: ") {
		t.Errorf("%q, without %q", payload[3:], state)
	}
	for _, reason := range append(reasons, "; ") {
		if !strings.Contains(payload, reason) {
			t.Errorf("%q does not say %q", payload, reason)
		}
	}
	if rest := readAll(client.connection); rest != "" {
		t.Errorf("behind the error: %q", rest)
	}
}

// saying says this, and then listens to the end.
func saying(text string) func(net.Conn) {
	return func(connection net.Conn) {
		_, _ = io.WriteString(connection, text)
		_, _ = io.Copy(io.Discard, connection)
	}
}

func TestGreetingThatLeadsToNoTLSIsRefusedInItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		script func(net.Conn)
		reason string
		cause  peer.Cause
	}{
		"no TLS":                  {saying(packetOf(0, greetingOf(0xffff&^tlsCapability))), "does not offer TLS", peer.NoTLS},
		"another protocol":        {saying(packetOf(0, "\x09"+greetingOf(0xffff)[1:])), "not of protocol 10", peer.BadServer},
		"a cut greeting":          {saying(packetOf(0, greetingOf(0xffff)[:40])), "not of protocol 10", peer.BadServer},
		"an endless version":      {saying(packetOf(0, "\x0a"+strings.Repeat("x", 100))), "not of protocol 10", peer.BadServer},
		"an empty packet":         {saying(packetOf(0, "")), "not of protocol 10", peer.BadServer},
		"a length past the bound": {saying("\xff\xff\xff\x00"), "longer than one can be", peer.BadServer},
		"silence":                 {saying(""), "did not go on within 500ms", peer.ServerTimeout},
		"an end":                  {func(net.Conn) {}, "closed the connection", peer.ServerDisconnected},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.cause == peer.ServerTimeout {
				f.config.HandshakeTimeout = soon
			}
			f.serve(c.script)
			f.startMySQL()
			wantError(t, side{t, f.connect()}, 0, 1043, "", c.reason, f.config.Server)
			f.logged(`"reason":"` + string(c.cause) + `"`)
		})
	}
}

func TestErrorInTheGreetingsPlaceIsTheServersOwn(t *testing.T) {
	f := newFixture(t)
	f.serve(saying(packetOf(0, "\xff\x10\x04Too many connections")))
	f.startMySQL()
	client := side{t, f.connect()}
	client.want(0, "\xff\x10\x04Too many connections")
	if rest := readAll(client.connection); rest != "" {
		t.Errorf("%q", rest)
	}
	f.logged(`"reason":"server_refused"`)
}

func TestServerThatDoesNotVerifyOrSpeaksInPlainIsRefusedBehindTheResponse(t *testing.T) {
	stranger := bridgetest.NewAuthority(t)
	greeting := packetOf(0, greetingOf(0xffff))
	with := func(authority *bridgetest.Authority, name string, until time.Time) func(net.Conn) {
		return func(connection net.Conn) {
			side{t, connection}.send(0, greetingOf(0xffff))
			side{t, connection}.take()
			if _, err := accept(connection, authority.ServerUntil(name, until)); err == nil {
				t.Error("TLS was begun")
			}
		}
	}
	valid := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		script func(*fixture) func(net.Conn)
		reason string
		cause  peer.Cause
	}{
		"bytes behind the greeting": {func(*fixture) func(net.Conn) { return saying(greeting + packetOf(2, "\x00\x00\x00\x02\x00\x00\x00")) },
			"unencrypted bytes", peer.Plaintext},
		"an answer in plain": {func(*fixture) func(net.Conn) {
			return func(connection net.Conn) {
				side{t, connection}.send(0, greetingOf(0xffff))
				side{t, connection}.take()
				saying(packetOf(2, "\x00\x00\x00\x02\x00\x00\x00"))(connection)
			}
		}, "unencrypted bytes", peer.Plaintext},
		"silence":           {func(*fixture) func(net.Conn) { return saying(greeting) }, "did not go on within 500ms", peer.ServerTimeout},
		"unknown authority": {func(*fixture) func(net.Conn) { return with(stranger, serverName, valid) }, "none of the trusted", peer.UnknownAuthority},
		"wrong name":        {func(f *fixture) func(net.Conn) { return with(f.authority, "other.test", valid) }, "other.test", peer.WrongName},
		"expired": {func(f *fixture) func(net.Conn) { return with(f.authority, serverName, time.Now().Add(-time.Minute)) },
			"expired", peer.Expired},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.cause == peer.ServerTimeout {
				f.config.HandshakeTimeout = soon
			}
			f.serve(c.script(f))
			f.startMySQL()
			wantError(t, f.mysqlClient(), 2, 1043, "#08S01", c.reason, f.config.Server)
			f.logged(`"reason":"` + string(c.cause) + `"`)
		})
	}
}

func TestClientThatBreaksTheLoginIsRefusedAndTheServerGetsNothingOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		sent   string
		reason string
		state  string
	}{
		"a request for TLS":     {packetOf(1, responseOf(clientCapabilities | tlsCapability)[:32]), "a request for TLS", ""},
		"TLS in a response":     {packetOf(1, responseOf(clientCapabilities|tlsCapability)), "a request for TLS", ""},
		"an older protocol":     {packetOf(1, responseOf(clientCapabilities&^(1<<9))), "not of protocol 4.1", ""},
		"nothing but a head":    {packetOf(1, responseOf(clientCapabilities)[:32]), "not of protocol 4.1", ""},
		"a number out of order": {packetOf(2, responseOf(clientCapabilities)), "out of order", ""},
		"a long packet":         {"\xff\xff\xff\x01", "longer than one can be", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			got := make(chan string, 1)
			f.serve(func(connection net.Conn) {
				side{t, connection}.send(0, greetingOf(0xffff))
				got <- readAll(connection)
			})
			f.startMySQL()
			client := side{t, f.connect()}
			client.take()
			write(t, client.connection, c.sent)
			number, payload := client.take()
			if payload[0] != 0xff || !strings.Contains(payload, c.reason) {
				t.Errorf("packet %d: %q", number, payload)
			}
			client.connection.Close()
			if sent := <-got; sent != "" {
				t.Errorf("the server got %q", sent)
			}
			f.logged(`"reason":"bad_client"`)
		})
	}
}

func TestClientThatDoesNotAnswerTheGreetingInTimeIsRefused(t *testing.T) {
	f := newFixture(t)
	f.config.FirstPacketTimeout = soon
	f.serve(saying(packetOf(0, greetingOf(0xffff))))
	f.startMySQL()
	client := side{t, f.connect()}
	client.take()
	wantError(t, client, 1, 1043, "", "did not log in within 500ms")
	f.logged(`"reason":"client_timeout"`)
}

func TestClientThatDoesNotAnswerAPluginInTimeIsRefused(t *testing.T) {
	f := newFixture(t)
	f.config.FirstPacketTimeout = soon
	f.mysqlServer(func(server side) {
		server.send(3, "\x01question")
		readAll(server.connection)
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(2, "\x01question")
	wantError(t, client, 3, 1043, "#08S01", "did not log in within 500ms")
	f.logged(`"reason":"client_timeout"`)
}

func TestServerThatDoesNotGoOnWithinTheLoginIsTold(t *testing.T) {
	f := newFixture(t)
	f.config.FirstPacketTimeout = soon
	f.mysqlServer(func(server side) { readAll(server.connection) })
	f.startMySQL()
	wantError(t, f.mysqlClient(), 2, 1043, "#08S01", "the server did not go on")
	f.logged(`"reason":"server_timeout"`)
}

func TestServerThatClosesWithinTheLoginIsTold(t *testing.T) {
	for _, question := range []string{"\x01question", "\x01\x04"} {
		f := newFixture(t)
		f.mysqlServer(func(server side) {
			server.send(3, question)
			server.take()
		})
		f.startMySQL()
		client := f.mysqlClient()
		client.want(2, question)
		client.send(3, "answer")
		wantError(t, client, 4, 1043, "#08S01", "the server closed the connection")
		f.logged(`"reason":"server_disconnected"`)
	}
}

func TestCommandBeforeTheLoginIsOverIsOutOfOrder(t *testing.T) {
	f := newFixture(t)
	f.mysqlServer(func(server side) { readAll(server.connection) })
	f.startMySQL()
	client := f.mysqlClient()
	client.send(0, "\x03SELECT 1")
	wantError(t, client, 2, 1043, "#08S01", "out of order")
}
