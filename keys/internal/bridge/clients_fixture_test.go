package bridge

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// clientsFixture is a bridge from clients, and an Envoy that a test scripts.
type clientsFixture struct {
	fixture
	config ClientsConfig
	// headers has what each connection to Envoy began with.
	headers chan string
}

// proxyHead is what a header of the PROXY protocol has before the addresses.
const proxyHead = 16

func newClientsFixture(t *testing.T) *clientsFixture {
	t.Helper()
	folder := testfile.Folder(t)
	f := &clientsFixture{
		fixture: fixture{t: t, authority: bridgetest.NewAuthority(t), ended: make(chan error, 1)}, config: ClientsDefaults(), headers: make(chan string, 100),
	}
	f.config.Listen, f.config.Envoy = "127.0.0.1:0", filepath.Join(folder, "envoy")
	f.config.Files.Certificate, f.config.Files.Key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	f.config.HandshakeTimeout, f.config.FirstPacketTimeout = patience, patience
	f.certify(serverName)
	listener, err := net.Listen("unix", f.config.Envoy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	f.listener = listener
	return f
}

// certify gives the bridge a new certificate.
func (f *clientsFixture) certify(name string) {
	certificate, key := f.authority.Issue(name, time.Now().Add(time.Hour))
	testfile.Write(f.t, f.config.Files.Certificate, certificate)
	testfile.Write(f.t, f.config.Files.Key, key)
}

// envoy runs a script behind the header of each connection.
func (f *clientsFixture) envoy(script func(net.Conn)) {
	f.serve(func(connection net.Conn) {
		head := make([]byte, proxyHead)
		if _, err := io.ReadFull(connection, head); err != nil {
			return
		}
		addresses := make([]byte, head[proxyHead-1])
		_, _ = io.ReadFull(connection, addresses)
		f.headers <- string(head) + string(addresses)
		script(connection)
	})
}

func (f *clientsFixture) startWith(protocol ClientProtocol, names ...string) {
	f.t.Helper()
	f.begin(func(ctx context.Context, logger *slog.Logger) error {
		return RunFromClients(ctx, f.config, protocol, names, logger)
	})
}

func (f *clientsFixture) startPostgres() {
	f.t.Helper()
	f.startWith(postgres.Clients{FirstPacketTimeout: f.config.FirstPacketTimeout}, postgres.ALPN)
}

// connect is a client's connection.
func (f *clientsFixture) connect() net.Conn {
	f.t.Helper()
	_, rest, _ := strings.Cut(f.log.String(), `"listen":"`)
	address, _, _ := strings.Cut(rest, `"`)
	network := "tcp"
	if isPath(address) {
		network = "unix"
	}
	connection, err := net.Dial(network, address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(patience))
	return connection
}

// trusting is a client's configuration, with a certificate of this authority where there is one.
func (f *clientsFixture) trusting(shown *bridgetest.Authority, names ...string) *tls.Config {
	config := &tls.Config{RootCAs: f.authority.Pool(), ServerName: serverName, NextProtos: names}
	if shown != nil {
		config.Certificates = shown.Server("app").Certificates
	}
	return config
}

// request asks for TLS by an SSLRequest and begins it.
func (f *clientsFixture) request(config *tls.Config) (*tls.Conn, error) {
	f.t.Helper()
	connection := f.connect()
	write(f.t, connection, sslRequest)
	if got := read(f.t, connection, 1); string(got) != "S" {
		f.t.Fatalf("%q", got)
	}
	secure := tls.Client(connection, config)
	return secure, secure.Handshake()
}

// secure is a client's connection within TLS.
func (f *clientsFixture) secure() *tls.Conn {
	f.t.Helper()
	secure, err := f.request(f.trusting(nil))
	if err != nil {
		f.t.Fatal(err)
	}
	return secure
}

// admitted is AuthenticationOk.
const admitted = "R\x00\x00\x00\x08\x00\x00\x00\x00"

// wantAdmitted begins a session.
func wantAdmitted(t *testing.T, client net.Conn) {
	t.Helper()
	write(t, client, startup())
	if got := read(t, client, len(admitted)); string(got) != admitted {
		t.Errorf("%q", got)
	}
}

// serving lets in who sends the StartupMessage, and then says what it hears until the client ends.
func serving(connection net.Conn) {
	first := make([]byte, len(startup()))
	if _, err := io.ReadFull(connection, first); err != nil || string(first) != startup() {
		return
	}
	_, _ = io.WriteString(connection, admitted)
	_, _ = io.Copy(connection, connection)
	_, _ = io.WriteString(connection, "end")
}
