package bridge

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// answering reads the SSLRequest and answers with this.
func answering(answer string) func(net.Conn) {
	return func(connection net.Conn) {
		request := make([]byte, 8)
		if _, err := io.ReadFull(connection, request); err == nil {
			_, _ = io.WriteString(connection, answer)
			_, _ = io.Copy(io.Discard, connection)
		}
	}
}

func TestServerThatDoesNotBeginVerifiedTLSIsRefusedAndTheClientIsTold(t *testing.T) {
	stranger := bridgetest.NewAuthority(t)
	type refused struct {
		script func(*fixture) func(net.Conn)
		code   string
		reason string
		cause  peer.Cause
	}
	fixed := func(answer string) func(*fixture) func(net.Conn) {
		return func(*fixture) func(net.Conn) { return answering(answer) }
	}
	within := func(config func(*fixture) *tls.Config) func(*fixture) func(net.Conn) {
		return func(f *fixture) func(net.Conn) { return granting(config(f), echo) }
	}
	for name, c := range map[string]refused{
		"no TLS":           {fixed("N"), "08004", "does not offer TLS", peer.NoTLS},
		"an error":         {fixed("ESFATAL\x00Mforged text\x00\x00"), "08004", "with an error, which is not read", peer.ServerRefused},
		"rubbish":          {fixed("HTTP/1.1 400"), "08006", "no PostgreSQL server", peer.BadServer},
		"bytes behind S":   {fixed("SR\x00\x00\x00\x08\x00\x00\x00\x00"), "08006", "unencrypted bytes", peer.Plaintext},
		"another letter":   {fixed("G"), "08006", "no PostgreSQL server", peer.BadServer},
		"silence":          {fixed(""), "08001", "did not go on within 500ms", peer.ServerTimeout},
		"silence behind S": {fixed("S"), "08001", "did not go on within 500ms", peer.ServerTimeout},
		"an end":           {func(*fixture) func(net.Conn) { return func(net.Conn) {} }, "08006", "closed the connection", peer.ServerDisconnected},
		"wrong name": {within(func(f *fixture) *tls.Config { return f.authority.Server("other.shop.test") }),
			"08001", "other.shop.test", peer.WrongName},
		"unknown authority": {within(func(*fixture) *tls.Config { return stranger.Server(serverName) }),
			"08001", "none of the trusted authorities", peer.UnknownAuthority},
		"expired": {within(func(f *fixture) *tls.Config { return f.authority.ServerUntil(serverName, time.Now().Add(-time.Minute)) }),
			"08001", "expired", peer.Expired},
		"an older TLS": {within(func(f *fixture) *tls.Config {
			config := f.authority.Server(serverName)
			config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			return config
		}), "08006", "protocol version not supported", peer.HandshakeFailed},
		"a certificate is demanded": {within(func(f *fixture) *tls.Config {
			config := f.authority.Server(serverName)
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, f.authority.Pool()
			return config
		}), "08006", "--client-certificate", peer.HandshakeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.cause == peer.ServerTimeout {
				f.config.HandshakeTimeout = soon
			}
			f.serve(c.script(f))
			f.startPostgres()
			client := f.connect()
			begun := time.Now()
			write(t, client, startup())
			answer := readAll(client)
			wantFatal(t, answer, c.code, c.reason, f.config.Server)
			if strings.Contains(answer, "forged") || time.Since(begun) > patience/2 {
				t.Errorf("%q after %v", answer, time.Since(begun))
			}
			f.logged(`"reason":"` + string(c.cause) + `"`)
		})
	}
}

func TestServerThatIsNotThereIsTold(t *testing.T) {
	f := newFixture(t)
	f.listener.Close()
	f.startPostgres()
	client := f.connect()
	write(t, client, startup())
	wantFatal(t, readAll(client), "08001", "no connection", f.config.Server)
}

func TestClientThatBreaksTheProtocolIsRefused(t *testing.T) {
	for name, sent := range map[string]string{
		"a length beyond the limit":    "\x00\x01\x00\x00\x00\x03\x00\x00",
		"a length below the head":      "\x00\x00\x00\x04\x00\x03\x00\x00",
		"TLS":                          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
		"protocol 2":                   "\x00\x00\x00\x09\x00\x02\x00\x00\x00",
		"a short CancelRequest":        cancelRequest[:3] + "\x0c" + cancelRequest[4:12],
		"a CancelRequest of 4 KiB":     "\x00\x00\x10\x00" + cancelRequest[4:8] + strings.Repeat("x", 4096-8),
		"requests for encryption only": sslRequest + gssRequest + sslRequest,
		"nothing in time":              startup()[:9],
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if name == "nothing in time" {
				f.config.FirstPacketTimeout = soon
			}
			f.serve(func(net.Conn) { t.Error("the server was asked") })
			f.startPostgres()
			client := f.connect()
			write(t, client, sent)
			wantFatal(t, strings.TrimLeft(readAll(client), "N"), "08P01")
			f.logged(`"reason":"` + map[bool]string{true: "client_timeout", false: "bad_client"}[name == "nothing in time"] + `"`)
		})
	}
}

func TestConnectionPastTheLimitIsToldAndLeavesTheOthersAlone(t *testing.T) {
	f := newFixture(t)
	f.config.MaxConnections = 1
	f.serve(granting(f.authority.Server(serverName), echo))
	f.startPostgres()
	first := f.connect()
	write(t, first, startup())
	read(t, first, 1)
	second := f.connect()
	write(t, second, startup())
	wantFatal(t, readAll(second), "53300", "--max-connections")
	write(t, first, "x")
	if got := read(t, first, 1); string(got) != "x" {
		t.Errorf("%q", got)
	}
}
