package bridge

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/mysql"
)

const (
	scramble = "0123456789abcdefghij"
	password = canary + "\x00"
	// Capabilities of a client: protocol 4.1, a database, a plugin's name, and MariaDB's bit that is none of MySQL's.
	clientCapabilities = 1<<3 | 1<<9 | 1<<15 | 1<<19
	tlsCapability      = 1 << 11
)

// greetingOf is a server's greeting with these lower capabilities.
func greetingOf(capabilities uint16) string {
	lower := string(binary.LittleEndian.AppendUint16(nil, capabilities))
	return "\x0a9.7.0\x00\x01\x00\x00\x00" + scramble[:8] + "\x00" + lower + "\xff\x02\x00\xff\xdf\x15" + strings.Repeat("\x00", 10) +
		scramble[8:] + "\x00caching_sha2_password\x00"
}

// responseOf is a client's HandshakeResponse, with extended capabilities as MariaDB's clients send them.
func responseOf(capabilities uint32) string {
	head := string(binary.LittleEndian.AppendUint32(nil, capabilities)) + "\x00\x00\x00\x01\xff" + strings.Repeat("\x00", 19) + "\x07\x00\x00\x00"
	return head + "app\x00\x03abcshop\x00caching_sha2_password\x00"
}

func packetOf(sequence byte, payload string) string {
	return string([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, sequence}) + payload
}

// side speaks in packets, and fails its test where one is not as it has to be.
type side struct {
	t          *testing.T
	connection net.Conn
}

func (s side) send(sequence byte, payload string) {
	_, _ = io.WriteString(s.connection, packetOf(sequence, payload))
}

func (s side) take() (byte, string) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(s.connection, head); err != nil {
		return 0, "nothing: " + err.Error()
	}
	payload := make([]byte, int(head[0])|int(head[1])<<8)
	_, _ = io.ReadFull(s.connection, payload)
	return head[3], string(payload)
}

func (s side) want(sequence byte, payload string) {
	s.t.Helper()
	if number, got := s.take(); number != sequence || got != payload {
		s.t.Errorf("packet %d is %q, not packet %d, %q", number, got, sequence, payload)
	}
}

// mysqlServer greets, wants the SSLRequest, begins TLS and runs a script behind the HandshakeResponse.
func (f *fixture) mysqlServer(script func(side)) {
	config := f.authority.Server(serverName)
	f.serve(func(connection net.Conn) {
		plain := side{f.t, connection}
		plain.send(0, greetingOf(0xffff))
		plain.want(1, responseOf(clientCapabilities | tlsCapability)[:32])
		secure, err := accept(connection, config)
		if err != nil {
			f.t.Error(err)
			return
		}
		defer secure.Close()
		within := side{f.t, secure}
		within.want(2, responseOf(clientCapabilities|tlsCapability))
		script(within)
	})
}

func (f *fixture) startMySQL() {
	f.t.Helper()
	f.start(mysql.Protocol{LoginTimeout: f.config.FirstPacketTimeout})
}

// mysqlClient connects, wants a greeting without TLS, and answers.
func (f *fixture) mysqlClient() side {
	f.t.Helper()
	client := side{f.t, f.connect()}
	client.want(0, greetingOf(0xffff&^tlsCapability))
	client.send(1, responseOf(clientCapabilities))
	return client
}

func TestLoginOfSeveralRoundsKeepsEachSidesNumbersUntilItIsOver(t *testing.T) {
	f := newFixture(t)
	f.mysqlServer(func(server side) {
		server.send(3, "\xfeclient_ed25519\x00"+scramble+"\x00")
		server.want(4, "proof")
		server.send(5, "\x01first") // two packets in a row, and a third that nobody answers
		server.send(6, "\x01second")
		server.want(7, "answer")
		server.send(8, "\x01last")
		server.send(9, "\x00\x00\x00\x02\x00\x00\x00")
		// Commands begin to count anew, and nothing is changed in them, a change of the user neither.
		server.want(0, "\x11other")
		server.send(1, "\xfeclient_ed25519\x00"+scramble+"\x00")
		server.want(2, "proof")
		server.send(3, "\x00\x00\x00\x02\x00\x00\x00")
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(2, "\xfeclient_ed25519\x00"+scramble+"\x00")
	client.send(3, "proof")
	client.want(4, "\x01first")
	client.want(5, "\x01second")
	client.send(6, "answer")
	client.want(7, "\x01last")
	client.want(8, "\x00\x00\x00\x02\x00\x00\x00")
	client.send(0, "\x11other")
	client.want(1, "\xfeclient_ed25519\x00"+scramble+"\x00")
	client.send(2, "proof")
	client.want(3, "\x00\x00\x00\x02\x00\x00\x00")
	if rest := readAll(client.connection); rest != "" {
		t.Errorf("%q", rest)
	}
}

func TestLargePacketsPassAfterTheLogin(t *testing.T) {
	f := newFixture(t)
	large := bytes.Repeat([]byte("x"), 1<<20)
	f.mysqlServer(func(server side) {
		server.send(3, "\x00")
		_, _ = io.CopyN(server.connection, server.connection, int64(len(large)))
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(2, "\x00")
	go func() { _, _ = client.connection.Write(large) }()
	if got := read(t, client.connection, len(large)); !bytes.Equal(got, large) {
		t.Error("not as it was")
	}
}

// A client on a Unix socket sends the password as it is, one on loopback encrypts it with the bridge's key.
func TestFullAuthenticationGivesTheServerThePasswordWithinTLS(t *testing.T) {
	for _, switched := range []bool{false, true} {
		f := newFixture(t)
		f.mysqlServer(func(server side) {
			next := byte(3)
			if switched {
				server.send(3, "\xfecaching_sha2_password\x00"+strings.ToUpper(scramble)+"\x00")
				server.want(4, "proof")
				next = 5
			}
			server.send(next, "\x01\x04")
			server.want(next+1, password)
			server.send(next+2, "\x00ok")
		})
		f.startMySQL()
		for _, encrypted := range []bool{false, true} {
			client, next, mixedWith := f.mysqlClient(), byte(2), scramble
			if switched {
				mixedWith = strings.ToUpper(scramble)
				client.want(2, "\xfecaching_sha2_password\x00"+mixedWith+"\x00")
				client.send(3, "proof")
				next = 4
			}
			client.want(next, "\x01\x04")
			if encrypted {
				client.send(next+1, "\x02")
				number, key := client.take()
				if number != next+2 || key[0] != 1 {
					t.Fatalf("packet %d: %q", number, key)
				}
				next += 2
				client.send(next+1, encrypt(t, key[1:], mixedWith))
			} else {
				client.send(next+1, password)
			}
			client.want(next+2, "\x00ok")
		}
		if strings.Contains(f.log.String(), canary) {
			t.Error("the log holds a password")
		}
	}
}

// encrypt does what a client does with its password.
func encrypt(t *testing.T, key, mixedWith string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(key))
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	mixed := []byte(password)
	for i := range mixed {
		mixed[i] ^= mixedWith[i%len(mixedWith)]
	}
	encrypted, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public.(*rsa.PublicKey), mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(encrypted)
}

func TestByteThatAsksForAKeyIsOnlyThatWhereTheServerWantsThePassword(t *testing.T) {
	f := newFixture(t)
	f.mysqlServer(func(server side) {
		server.send(3, "\xfedialog\x00question")
		server.want(4, "\x02")
		server.send(5, "\xff\x15\x04#28000no")
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(2, "\xfedialog\x00question")
	client.send(3, "\x02")
	client.want(4, "\xff\x15\x04#28000no")
	if rest := readAll(client.connection); rest != "" {
		t.Errorf("%q", rest)
	}
}

func TestNothingOfTheLoginIsPlainTowardsTheServer(t *testing.T) {
	f := newFixture(t)
	seen := make(chan string, 1)
	config := f.authority.Server(serverName)
	f.serve(func(connection net.Conn) {
		recorded := &recorder{Conn: connection}
		plain := side{t, recorded}
		plain.send(0, greetingOf(0xffff))
		plain.take()
		secure := tls.Server(recorded, config)
		side{t, secure}.take()
		side{t, secure}.send(3, "\x00ok")
		readAll(secure)
		seen <- recorded.read.String()
	})
	f.startMySQL()
	client := f.mysqlClient()
	client.want(2, "\x00ok")
	client.send(0, "\x03"+canary)
	client.connection.Close()
	got := <-seen
	request := packetOf(1, responseOf(clientCapabilities | tlsCapability)[:32])
	if !strings.HasPrefix(got, request+"\x16\x03") || strings.Contains(got, canary) || strings.Contains(got, "app\x00") {
		t.Errorf("the server's side carried %.100q", got)
	}
}
