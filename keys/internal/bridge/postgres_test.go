package bridge

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
)

const (
	sslRequest    = "\x00\x00\x00\x08\x04\xd2\x16\x2f"
	gssRequest    = "\x00\x00\x00\x08\x04\xd2\x16\x30"
	cancelRequest = "\x00\x00\x00\x10\x04\xd2\x16\x2e\x00\x00\x00\x01\x00\x00\x00\x02"
	canary        = "canary-078-05-1120"
)

// startup is a StartupMessage with a canary in it.
func startup() string {
	body := "\x00\x03\x00\x00user\x00" + canary + "\x00\x00"
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))) + body
}

func (f *fixture) startPostgres() {
	f.t.Helper()
	f.start(postgres.Protocol{FirstPacketTimeout: f.config.FirstPacketTimeout}, postgres.ALPN)
}

// granting answers an SSLRequest with yes, begins TLS, and runs a script within it.
func granting(config *tls.Config, script func(*tls.Conn)) func(net.Conn) {
	return func(connection net.Conn) {
		request := make([]byte, 8)
		if _, err := io.ReadFull(connection, request); err != nil || string(request) != sslRequest {
			return
		}
		_, _ = io.WriteString(connection, "S")
		if secure, err := accept(connection, config); err == nil {
			script(secure)
		}
	}
}

// echo answers the StartupMessage with one byte, and then says what it hears until the client ends.
func echo(secure *tls.Conn) {
	first := make([]byte, len(startup()))
	if _, err := io.ReadFull(secure, first); err != nil {
		return
	}
	_, _ = io.WriteString(secure, "R")
	_, _ = io.Copy(secure, secure)
	_, _ = io.WriteString(secure, "end")
	_ = secure.CloseWrite()
}

func wantFatal(t *testing.T, answer, code string, reasons ...string) {
	t.Helper()
	message, err := pgproto3.NewFrontend(strings.NewReader(answer), io.Discard).Receive()
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	told, ok := message.(*pgproto3.ErrorResponse)
	if !ok || told.Severity != "FATAL" || told.Code != code || strings.Count(told.Message, "; ") < 1 {
		t.Errorf("%#v, not FATAL %s", message, code)
	}
	for _, reason := range reasons {
		if ok && !strings.Contains(told.Message, reason) {
			t.Errorf("%q does not say %q", told.Message, reason)
		}
	}
}

func TestSessionPassesBothWaysAndAHalfCloseStaysOne(t *testing.T) {
	f := newFixture(t)
	f.serve(granting(f.authority.Server(serverName), echo))
	f.startPostgres()
	client := f.connect()
	write(t, client, sslRequest+gssRequest)
	if got := read(t, client, 2); string(got) != "NN" {
		t.Fatalf("%q", got)
	}
	write(t, client, startup())
	if got := read(t, client, 1); string(got) != "R" {
		t.Fatalf("%q", got)
	}
	large := bytes.Repeat([]byte("0123456789"), 1<<17)
	go func() {
		_, _ = client.Write(large)
		_ = client.CloseWrite()
	}()
	if got := readAll(client); got != string(large)+"end" {
		t.Errorf("%d bytes came back", len(got))
	}
}

func TestWhatPassesToTheServerIsEncryptedFromItsFirstByte(t *testing.T) {
	f := newFixture(t)
	seen := make(chan string, 1)
	f.serve(func(connection net.Conn) {
		recorded := &recorder{Conn: connection}
		granting(f.authority.Server(serverName), echo)(recorded)
		seen <- recorded.read.String()
	})
	f.startPostgres()
	client := f.connect()
	write(t, client, startup()+canary)
	if got := read(t, client, 1+len(canary)); string(got) != "R"+canary {
		t.Errorf("%q", got)
	}
	client.Close()
	if got := <-seen; strings.Contains(got, canary) || !strings.HasPrefix(got, sslRequest+"\x16\x03") {
		t.Errorf("the server's side carried %q", got)
	}
	if strings.Contains(f.log.String(), canary) {
		t.Error("the log holds what the client sent")
	}
}

type recorder struct {
	net.Conn
	read bytes.Buffer
}

func (r *recorder) Read(bytes []byte) (int, error) {
	n, err := r.Conn.Read(bytes)
	r.read.Write(bytes[:n])
	return n, err
}

func TestCancelRequestGoesWithinTLSOnAConnectionOfItsOwn(t *testing.T) {
	f := newFixture(t)
	got := make(chan string, 1)
	f.serve(granting(f.authority.Server(serverName), func(secure *tls.Conn) { got <- readAll(io.LimitReader(secure, 16)) }))
	f.startPostgres()
	client := f.connect()
	write(t, client, cancelRequest)
	if answer := readAll(client); answer != "" {
		t.Errorf("answered %q", answer)
	}
	if request := <-got; request != cancelRequest {
		t.Errorf("%q", request)
	}
}

func TestDirectTLSBeginsWithTheProtocolsName(t *testing.T) {
	for _, names := range [][]string{{postgres.ALPN}, nil} {
		f := newFixture(t)
		config := f.authority.Server(serverName)
		config.NextProtos = names
		f.serve(func(connection net.Conn) {
			if secure, err := accept(connection, config); err == nil {
				echo(secure)
			}
		})
		f.start(postgres.Protocol{Direct: true, FirstPacketTimeout: patience}, postgres.ALPN)
		client := f.connect()
		write(t, client, startup())
		if names == nil {
			wantFatal(t, readAll(client), "08006", "ALPN")
			continue
		}
		if got := read(t, client, 1); string(got) != "R" {
			t.Errorf("%q", got)
		}
	}
}
