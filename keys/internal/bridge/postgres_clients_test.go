package bridge

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestClientsSessionPassesBothWaysAndAHalfCloseStaysOne(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(serving)
	f.startPostgres()
	client := f.secure()
	write(t, client, startup())
	if got := read(t, client, len(admitted)); string(got) != admitted {
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
	if strings.Contains(f.log.String(), canary) {
		t.Error("the log holds what the client sent")
	}
}

func TestEnvoyLearnsTheClientsAddressUnlessItIsToldNot(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(serving)
	f.startPostgres()
	client := f.secure()
	write(t, client, startup())
	header := <-f.headers
	_, port, _ := net.SplitHostPort(client.LocalAddr().String())
	told := binary.BigEndian.Uint16([]byte(header[proxyHead+8:]))
	if !strings.HasPrefix(header, "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01") || port != itoa(told) {
		t.Errorf("%q for port %s", header, port)
	}

	f = newClientsFixture(t)
	f.config.ProxyProtocol = false
	f.serve(serving)
	f.startPostgres()
	client = f.secure()
	wantAdmitted(t, client)
}

func TestGSSENCRequestIsDeclinedAndTLSStillBegins(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(serving)
	f.startPostgres()
	connection := f.connect()
	write(t, connection, gssRequest)
	if got := read(t, connection, 1); string(got) != "N" {
		t.Fatalf("%q", got)
	}
	write(t, connection, sslRequest)
	read(t, connection, 1)
	secure := tls.Client(connection, f.trusting(nil))
	wantAdmitted(t, secure)
}

func TestClientsDirectTLSNeedsTheProtocolsName(t *testing.T) {
	f := newClientsFixture(t)
	f.envoy(serving)
	f.startPostgres()
	named := tls.Client(f.connect(), f.trusting(nil, postgres.ALPN))
	wantAdmitted(t, named)
	unnamed := tls.Client(f.connect(), f.trusting(nil))
	write(t, unnamed, startup())
	wantFatal(t, readAll(unnamed), "08P01", "ALPN")
	if err := tls.Client(f.connect(), f.trusting(nil, "h2")).Handshake(); err == nil {
		t.Error("another protocol's name was taken")
	}
}

func TestCancelRequestReachesEnvoyWithinTLSAndWithout(t *testing.T) {
	f := newClientsFixture(t)
	got := make(chan string, 1)
	f.envoy(func(connection net.Conn) { got <- readAll(io.LimitReader(connection, 16)) })
	f.startPostgres()
	for _, client := range []net.Conn{f.secure(), f.connect()} {
		write(t, client, cancelRequest)
		if answer := readAll(client); answer != "" {
			t.Errorf("answered %q", answer)
		}
		if request := <-got; request != cancelRequest {
			t.Errorf("%q", request)
		}
	}
}

func TestClientWithoutTLSIsRefusedUnlessItIsAllowed(t *testing.T) {
	f := newClientsFixture(t)
	f.serve(func(net.Conn) { t.Error("Envoy was asked") })
	f.startPostgres()
	client := f.connect()
	write(t, client, startup())
	wantFatal(t, readAll(client), "28000", "sslmode=verify-full", "--allow-plain")
	f.logged(`"reason":"plain_client"`)

	f = newClientsFixture(t)
	f.config.AllowPlain = true
	f.envoy(serving)
	f.startPostgres()
	client = f.connect()
	wantAdmitted(t, client)
	if got, want := f.secure().ConnectionState().Version, uint16(tls.VersionTLS13); got != want {
		t.Errorf("beside it TLS has version %x", got)
	}
}

func TestClientThatBreaksItsWayIntoTLSIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ sent, answer, reason string }{
		"a StartupMessage behind the SSLRequest": {sslRequest + startup(), "E", "plaintext"},
		"a query behind it":                      {sslRequest + "Q\x00\x00\x00\x09x;\x00", "E", "plaintext"},
		"a length beyond the limit":              {"\x00\x01\x00\x00\x00\x03\x00\x00", "E", "bad_client"},
		"protocol 2":                             {"\x00\x00\x00\x09\x00\x02\x00\x00\x00", "E", "bad_client"},
		"a short CancelRequest":                  {cancelRequest[:3] + "\x0c" + cancelRequest[4:12], "E", "bad_client"},
		"requests for encryption only":           {strings.Repeat(gssRequest, 3), "NNNE", "bad_client"},
		"rubbish in TLS's place":                 {"\x16\x03\x01\x00\x05rubbish", "\x15", "handshake_failed"},
		"nothing in time":                        {startup()[:9], "E", "client_timeout"},
		"a hello that does not end":              {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "", "client_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newClientsFixture(t)
			if c.reason == "client_timeout" {
				f.config.FirstPacketTimeout, f.config.HandshakeTimeout = soon, soon
			}
			f.serve(func(net.Conn) { t.Error("Envoy was asked") })
			f.startPostgres()
			client := f.connect()
			write(t, client, c.sent)
			if answer := readAll(client); !strings.HasPrefix(answer, c.answer) || c.answer == "" && answer != "" {
				t.Errorf("%q", answer)
			}
			f.logged(`"reason":"` + c.reason + `"`)
		})
	}
}

func TestPlaintextBehindTheConsentToTLSIsNotTakenForTLS(t *testing.T) {
	f := newClientsFixture(t)
	f.serve(func(net.Conn) { t.Error("Envoy was asked") })
	f.startPostgres()
	client := f.connect()
	write(t, client, sslRequest)
	read(t, client, 1)
	write(t, client, startup())
	if answer := readAll(client); strings.Contains(answer, "R") {
		t.Errorf("%q", answer)
	}
	f.logged(`"reason":"plaintext"`)
}

func TestEnvoyThatIsNotThereIsToldWithinTLS(t *testing.T) {
	f := newClientsFixture(t)
	f.listener.Close()
	f.startPostgres()
	client := f.secure()
	write(t, client, startup())
	wantFatal(t, readAll(client), "08001", "no connection to Envoy", f.config.Envoy)
}

func TestUnixSocketForClientsTakesTLSToo(t *testing.T) {
	f := newClientsFixture(t)
	f.config.Listen = filepath.Join(testfile.Folder(t), "s")
	f.envoy(serving)
	f.startPostgres()
	client := f.secure()
	wantAdmitted(t, client)
	if header := <-f.headers; !strings.HasSuffix(header, "\x20\x00\x00\x00") {
		t.Errorf("%q", header)
	}
}
