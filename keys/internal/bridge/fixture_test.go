package bridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/bridgetest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

const (
	serverName = "db.shop.test"
	// patience is above all that a test waits for that works.
	patience = 10 * time.Second
	// soon is the limit where a test waits for its end.
	soon = 500 * time.Millisecond
)

// fixture is a bridge, and a server that a test scripts.
type fixture struct {
	t         *testing.T
	authority *bridgetest.Authority
	config    Config
	log       safeBuffer
	listener  net.Listener
	stop      context.CancelFunc
	ended     chan error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	folder := testfile.Folder(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	f := &fixture{t: t, authority: bridgetest.NewAuthority(t), config: Defaults(), listener: listener, ended: make(chan error, 1)}
	f.config.Listen, f.config.Server, f.config.ServerName = filepath.Join(folder, "s"), listener.Addr().String(), serverName
	f.config.Files.CA = filepath.Join(folder, "ca.pem")
	testfile.Write(t, f.config.Files.CA, f.authority.PEM)
	f.config.HandshakeTimeout, f.config.FirstPacketTimeout = patience, patience
	return f
}

// serve runs a script on each connection to the server.
func (f *fixture) serve(script func(net.Conn)) {
	go func() {
		for {
			connection, err := f.listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				_ = connection.SetDeadline(time.Now().Add(patience))
				script(connection)
			}()
		}
	}()
}

// start runs the bridge.
func (f *fixture) start(protocol Protocol, names ...string) {
	f.t.Helper()
	f.begin(func(ctx context.Context, logger *slog.Logger) error {
		return Run(ctx, f.config, protocol, names, logger)
	})
}

// begin runs a bridge, until it listens.
func (f *fixture) begin(run func(context.Context, *slog.Logger) error) {
	f.t.Helper()
	ctx, stop := context.WithCancel(f.t.Context())
	f.stop = stop
	go func() { f.ended <- run(ctx, slog.New(slog.NewJSONHandler(&f.log, nil))) }()
	f.t.Cleanup(stop)
	f.until("the bridge listens", func() bool { return strings.Contains(f.log.String(), `"serving"`) })
}

// connect is a client's connection.
func (f *fixture) connect() *net.UnixConn {
	f.t.Helper()
	connection, err := net.Dial("unix", f.config.Listen)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(patience))
	return connection.(*net.UnixConn)
}

// logged waits for a line of the log.
func (f *fixture) logged(text string) {
	f.t.Helper()
	f.until(text, func() bool { return strings.Contains(f.log.String(), text) })
}

func (f *fixture) until(what string, holds func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("not in time: %s\n%s", what, f.log.String())
		}
	}
}

// read reads so many bytes.
func read(t *testing.T, from io.Reader, count int) []byte {
	t.Helper()
	bytes := make([]byte, count)
	if _, err := io.ReadFull(from, bytes); err != nil {
		t.Fatal(err)
	}
	return bytes
}

func write(t *testing.T, to io.Writer, bytes string) {
	t.Helper()
	if _, err := io.WriteString(to, bytes); err != nil {
		t.Fatal(err)
	}
}

// readAll reads to the end; a connection that was reset has ended too.
func readAll(from io.Reader) string {
	var all bytes.Buffer
	_, _ = io.Copy(&all, from)
	return all.String()
}

// accept begins TLS as a server.
func accept(connection net.Conn, config *tls.Config) (*tls.Conn, error) {
	secure := tls.Server(connection, config)
	return secure, secure.Handshake()
}

type safeBuffer struct {
	mutex sync.Mutex
	bytes bytes.Buffer
}

func (b *safeBuffer) Write(bytes []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.bytes.Write(bytes)
}

func (b *safeBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.bytes.String()
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
