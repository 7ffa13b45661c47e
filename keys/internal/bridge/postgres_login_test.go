package bridge

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
)

const (
	offer      = "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"
	asksInText = "R\x00\x00\x00\x08\x00\x00\x00\x03"
	salt       = "0123456789abcdef"
)

// messageOf is one of the protocol's.
func messageOf(tag byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{tag}, uint32(len(body)+4))) + body
}

// takeMessage gives the body of the next message.
func takeMessage(t *testing.T, from io.Reader) string {
	t.Helper()
	head := read(t, from, 5)
	return string(read(t, from, int(binary.BigEndian.Uint32(head[1:]))-4))
}

func sasl(code byte, text string) string {
	return messageOf('R', "\x00\x00\x00"+string([]byte{code})+text)
}

// scramServer is a server whose user has this password. It gives the client's first message to seen.
func scramServer(t *testing.T, password string, seen chan<- string) func(net.Conn) {
	return func(connection net.Conn) {
		read(t, connection, len(startup()))
		write(t, connection, messageOf('R', offer))
		_, first, _ := strings.Cut(takeMessage(t, connection)[len("SCRAM-SHA-256")+1+4:], ",,")
		seen <- first
		serverFirst := strings.Replace(first, "n=,", "", 1) + "server,s=" + base64.StdEncoding.EncodeToString([]byte(salt)) + ",i=4096"
		write(t, connection, sasl(11, serverFirst))
		final := takeMessage(t, connection)
		withoutProof, proof, _ := strings.Cut(final, ",p=")
		salted, _ := pbkdf2.Key(sha256.New, password, []byte(salt), 4096, sha256.Size)
		message := first + "," + serverFirst + "," + withoutProof
		clientKey := mac(salted, "Client Key")
		stored := sha256.Sum256(clientKey)
		want := mac(stored[:], message)
		for i := range want {
			want[i] ^= clientKey[i]
		}
		if proof != base64.StdEncoding.EncodeToString(want) || !strings.HasPrefix(withoutProof, "c=biws,") {
			write(t, connection, messageOf('E', "SFATAL\x00C28P01\x00Mno\x00\x00"))
			return
		}
		write(t, connection, sasl(12, "v="+base64.StdEncoding.EncodeToString(mac(mac(salted, "Server Key"), message)))+admitted)
		_, _ = io.Copy(connection, connection)
	}
}

func mac(key []byte, message string) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(message))
	return hash.Sum(nil)
}

func TestClientIsAskedForItsPasswordWithinTLSAndTheServerGetsTheProof(t *testing.T) {
	for given, opens := range map[string]bool{canary: true, "wrong": false} {
		f := newClientsFixture(t)
		seen := make(chan string, 1)
		f.envoy(scramServer(t, canary, seen))
		f.startPostgres()
		client := f.secure()
		write(t, client, startup())
		if got := read(t, client, len(asksInText)); string(got) != asksInText {
			t.Fatalf("%q", got)
		}
		write(t, client, messageOf('p', given+"\x00"))
		if !opens {
			wantServersRefusal(t, client)
			continue
		}
		if got := read(t, client, len(admitted)); string(got) != admitted {
			t.Errorf("%q", got)
		}
		if first := <-seen; !strings.HasPrefix(first, "n=,r=") || strings.Contains(f.log.String(), canary) {
			t.Errorf("%q", first)
		}
		write(t, client, "x")
		if got := read(t, client, 1); string(got) != "x" {
			t.Errorf("%q", got)
		}
	}
}

func wantServersRefusal(t *testing.T, client io.Reader) {
	t.Helper()
	if got := readAll(client); got != messageOf('E', "SFATAL\x00C28P01\x00Mno\x00\x00") {
		t.Errorf("%q", got)
	}
}

func TestLoginPassesAsItIsWhereTheFlagSaysSoAndWhereItIsNotSCRAM(t *testing.T) {
	for _, question := range []string{offer, "\x00\x00\x00\x0aOAUTHBEARER\x00\x00", "\x00\x00\x00\x05salt"} {
		f := newClientsFixture(t)
		seen := make(chan string, 1)
		f.envoy(func(connection net.Conn) {
			read(t, connection, len(startup()))
			write(t, connection, messageOf('N', "SNOTICE\x00\x00")+messageOf('R', question))
			seen <- takeMessage(t, connection)
			write(t, connection, "xyz")
		})
		f.startWith(postgres.Clients{FirstPacketTimeout: patience, PassSCRAM: question == offer}, postgres.ALPN)
		client := f.secure()
		write(t, client, startup())
		takeMessage(t, client)
		if got := takeMessage(t, client); got != question {
			t.Errorf("%q", got)
		}
		write(t, client, messageOf('p', "proof"))
		if got := <-seen; got != "proof" {
			t.Errorf("%q", got)
		}
		if got := read(t, client, 3); string(got) != "xyz" {
			t.Errorf("%q", got)
		}
	}
}

func TestServerThatDoesNotKnowThePasswordIsNotTaken(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(func(connection net.Conn) {
		read(t, connection, len(startup()))
		write(t, connection, messageOf('R', offer))
		_, nonce, _ := strings.Cut(takeMessage(t, connection), "r=")
		write(t, connection, sasl(11, "r="+nonce+"server,s=W22Z,i=4096"))
		takeMessage(t, connection)
		write(t, connection, sasl(12, "v=AAAA")+admitted)
	})
	f.startPostgres()
	client := f.secure()
	write(t, client, startup())
	takeMessage(t, client)
	write(t, client, messageOf('p', canary+"\x00"))
	wantFatal(t, readAll(client), "08006", "does not show that it knows the password")
	f.logged(`"reason":"bad_server"`)
}

func TestLoginThatIsNoneOrDoesNotGoOnIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ envoy, client, code, reason string }{
		"a message past the limit": {"R\x7f\x00\x00\x00", "", "08006", "bad_server"},
		"silence of the server":    {"", "", "08001", "server_timeout"},
		"silence of the client":    {messageOf('R', offer), "", "08P01", "client_timeout"},
		"no password":              {messageOf('R', offer), messageOf('Q', "x\x00"), "08P01", "bad_client"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newClientsFixture(t)
			f.config.FirstPacketTimeout, f.config.HandshakeTimeout = soon, soon
			f.envoy(func(connection net.Conn) {
				write(t, connection, c.envoy)
				readAll(connection)
			})
			f.startPostgres()
			client := f.secure()
			write(t, client, startup()+c.client)
			answer := readAll(client)
			at := strings.Index(answer, "SFATAL")
			if at < 5 {
				t.Fatalf("%q", answer)
			}
			wantFatal(t, answer[at-5:], c.code)
			f.logged(`"reason":"` + c.reason + `"`)
		})
	}
}
