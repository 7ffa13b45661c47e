package bridge

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/mysql"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// The greeting as the filter passes it, and what a client is offered.
var (
	plainGreeting   = greetingOf(0xffff &^ tlsCapability)
	offeredGreeting = greetingOf(0xffff)
)

func (f *clientsFixture) startMySQL() {
	f.t.Helper()
	f.startWith(mysql.Clients{LoginTimeout: f.config.FirstPacketTimeout})
}

// mysqlEnvoy greets without TLS, wants a response without TLS with the number that follows, and runs a script behind it.
func (f *clientsFixture) mysqlEnvoy(script func(side)) {
	f.envoy(func(connection net.Conn) {
		envoy := side{f.t, connection}
		envoy.send(0, plainGreeting)
		envoy.want(1, responseOf(clientCapabilities))
		script(envoy)
	})
}

// requestMySQL wants the greeting with TLS, asks for TLS, and begins it.
func (f *clientsFixture) requestMySQL() side {
	f.t.Helper()
	client := side{f.t, f.connect()}
	client.want(0, offeredGreeting)
	client.send(1, responseOf(clientCapabilities | tlsCapability)[:32])
	return side{f.t, tls.Client(client.connection, f.trusting(nil))}
}

func (f *clientsFixture) mysqlClient() side {
	f.t.Helper()
	secure := f.requestMySQL()
	secure.send(2, responseOf(clientCapabilities|tlsCapability))
	return secure
}

func TestClientsLoginKeepsEachSidesNumbersUntilItIsOver(t *testing.T) {
	f := newClientsFixture(t)
	f.mysqlEnvoy(func(envoy side) {
		envoy.send(2, "\xfecaching_sha2_password\x00"+scramble+"\x00")
		envoy.want(3, "proof")
		envoy.send(4, "\x01\x04")
		envoy.want(5, password) // as the client sends it within TLS
		envoy.send(6, "\x00\x00\x00\x02\x00\x00\x00")
		envoy.want(0, "\x11other")
		envoy.send(1, "\x00\x00\x00\x02\x00\x00\x00")
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(3, "\xfecaching_sha2_password\x00"+scramble+"\x00")
	client.send(4, "proof")
	client.want(5, "\x01\x04")
	client.send(6, password)
	client.want(7, "\x00\x00\x00\x02\x00\x00\x00")
	client.send(0, "\x11other")
	client.want(1, "\x00\x00\x00\x02\x00\x00\x00")
	if rest := readAll(client.connection); rest != "" {
		t.Errorf("%q", rest)
	}
	if strings.Contains(f.log.String(), canary) {
		t.Error("the log holds a password")
	}
}

func TestRequestForAPublicKeyIsTheServersToAnswer(t *testing.T) {
	f := newClientsFixture(t)
	f.mysqlEnvoy(func(envoy side) {
		envoy.send(2, "\xfecaching_sha2_password\x00"+scramble+"\x00")
		envoy.want(3, "proof")
		envoy.send(4, "\x01\x04")
		envoy.want(5, "\x02")
		envoy.send(6, "\x01key")
		envoy.want(7, "encrypted")
		envoy.send(8, "\x00ok")
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(3, "\xfecaching_sha2_password\x00"+scramble+"\x00")
	client.send(4, "proof")
	client.want(5, "\x01\x04")
	client.send(6, "\x02")
	client.want(7, "\x01key")
	client.send(8, "encrypted")
	client.want(9, "\x00ok")
}

func TestMySQLClientWithoutTLSIsRefusedUnlessItIsAllowed(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(func(connection net.Conn) {
		side{t, connection}.send(0, plainGreeting)
		if got := readAll(connection); got != "" {
			t.Errorf("Envoy got %q", got)
		}
	})
	f.startMySQL()
	client := side{t, f.connect()}
	client.want(0, offeredGreeting)
	client.send(1, responseOf(clientCapabilities))
	wantError(t, client, 2, 3159, "#HY000", "ssl-mode=VERIFY_IDENTITY")
	f.logged(`"reason":"plain_client"`)

	f = newClientsFixture(t)
	f.config.AllowPlain = true
	f.mysqlEnvoy(func(envoy side) { envoy.send(2, "\x00ok") })
	f.startMySQL()
	client = side{t, f.connect()}
	client.want(0, offeredGreeting)
	client.send(1, responseOf(clientCapabilities))
	client.want(2, "\x00ok")
}

func TestMySQLClientThatBreaksItsWayIntoTLSIsRefusedAndEnvoyGetsNothingOfIt(t *testing.T) {
	tlsResponse := responseOf(clientCapabilities | tlsCapability)
	for name, c := range map[string]struct{ sent, reason string }{
		"a response in place of the request": {packetOf(1, tlsResponse), "bad_client"},
		"a number out of order":              {packetOf(2, tlsResponse[:32]), "bad_client"},
		"an older protocol":                  {packetOf(1, responseOf(clientCapabilities&^(1<<9))), "bad_client"},
		"a long packet":                      {"\xff\xff\xff\x01", "bad_client"},
		"a response behind the request":      {packetOf(1, tlsResponse[:32]) + packetOf(2, tlsResponse), "plaintext"},
		"nothing behind the request":         {packetOf(1, tlsResponse[:32]), "client_timeout"},
		"nothing":                            {"", "client_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newClientsFixture(t)
			if c.reason == "client_timeout" {
				f.config.FirstPacketTimeout, f.config.HandshakeTimeout = soon, soon
			}
			got := make(chan string, 1)
			f.envoy(func(connection net.Conn) {
				side{t, connection}.send(0, plainGreeting)
				got <- readAll(connection)
			})
			f.startMySQL()
			client := side{t, f.connect()}
			client.want(0, offeredGreeting)
			write(t, client.connection, c.sent)
			readAll(client.connection)
			if sent := <-got; sent != "" {
				t.Errorf("Envoy got %q", sent)
			}
			f.logged(`"reason":"` + c.reason + `"`)
		})
	}
}

func TestEnvoyIsToldWhomTheCertificateNamesAheadOfTheResponse(t *testing.T) {
	names := `{"subject":"CN=app","dns":["app"],"uri":[],"email":[]}`
	for shown, told := range map[bool]string{true: names, false: "null"} {
		f := newClientsFixture(t)
		f.config.Certificates = downstream.Optional
		f.config.Files.CA = filepath.Join(testfile.Folder(t), "client-ca.pem")
		testfile.Write(t, f.config.Files.CA, f.authority.PEM)
		f.envoy(func(connection net.Conn) {
			envoy := side{t, connection}
			envoy.send(0, plainGreeting)
			envoy.want(0, told)
			envoy.want(1, responseOf(clientCapabilities))
			envoy.send(2, "\x00ok")
		})
		f.startMySQL()
		client := side{t, f.connect()}
		client.want(0, offeredGreeting)
		client.send(1, responseOf(clientCapabilities | tlsCapability)[:32])
		config := f.trusting(nil)
		if shown {
			config = f.trusting(f.authority)
		}
		client.connection = tls.Client(client.connection, config)
		client.send(2, responseOf(clientCapabilities|tlsCapability))
		client.want(3, "\x00ok")
		if header := <-f.headers; !strings.HasSuffix(header, "\xe0\x00\x06follow") {
			t.Errorf("%q", header)
		}
	}
}

func TestWhatEnvoysSideSaysInTheGreetingsPlaceIsTold(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(saying(packetOf(0, "\xff\x10\x04Too many connections")))
	f.startMySQL()
	client := side{t, f.connect()}
	client.want(0, "\xff\x10\x04Too many connections")

	for name, script := range map[string]func(net.Conn){"an end": func(net.Conn) {}, "another protocol": saying(packetOf(0, "\x09old"))} {
		f := newClientsFixture(t)
		f.envoy(script)
		f.startMySQL()
		t.Log(name)
		wantError(t, side{t, f.connect()}, 0, 1043, "", f.config.Envoy)
	}
}

func TestEnvoyThatClosesWithinTheLoginIsTold(t *testing.T) {
	f := newClientsFixture(t)
	f.mysqlEnvoy(func(envoy side) { envoy.send(2, "\x01question") })
	f.startMySQL()
	client := f.mysqlClient()
	client.want(3, "\x01question")
	wantError(t, client, 4, 1043, "#08S01", "Envoy closed the connection")
	f.logged(`"reason":"server_disconnected"`)
}
