// Package bridge stands between Envoy and a server that begins TLS within its protocol, which Envoy can not do. It
// accepts the protocol without TLS where only this machine reaches it, begins verified TLS with the server as the
// protocol has it, and then moves bytes.
//
// It reads no statement and no row. It assumes that whoever can connect to it may see what the filter sends to the
// server: sealed values, and passwords as the client sent them.
package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/hardening"
	"github.com/fieldveil/fieldveil/keys/internal/localsocket"
)

// Protocol is how a database's protocol gets into TLS.
type Protocol interface {
	// Establish speaks with both sides until nothing has to be done any more but to move bytes. If it fails it has told
	// the client why, as far as the protocol has words for that.
	Establish(ctx context.Context, client net.Conn, server *upstream.Server) (*peer.Conn, *peer.Refusal)
	// Refuse tells a client with which nothing was spoken yet why it can not be served.
	Refuse(client net.Conn, refusal *peer.Refusal)
}

const (
	// closePatience is how long a client may take to read why it was refused.
	closePatience = time.Second
	// acceptPause keeps a process without descriptors from spinning.
	acceptPause = 50 * time.Millisecond
)

// Run serves until the context ends, and then until the open connections have ended or the time for that is over.
func Run(ctx context.Context, config Config, protocol Protocol, protocols []string, logger *slog.Logger) error {
	if err := config.Check(); err != nil {
		return err
	}
	credentials, err := peer.OpenCredentials(config.Files, logger)
	if err != nil {
		return err
	}
	if _, err := hardening.Harden(logger); err != nil {
		return err
	}
	m := newMetrics(credentials)
	listener, err := listen(ctx, &config, m, logger)
	if err != nil {
		return err
	}
	defer listener.Close()
	if config.MetricsAddress != "" {
		status, err := localsocket.ListenTCP("--metrics-address", config.MetricsAddress)
		if err != nil {
			return err
		}
		defer status.Close()
		until, stop := context.WithCancel(context.WithoutCancel(ctx)) // metrics tell of the draining too
		defer stop()
		go serveStatus(until, status, m, logger)
	}
	b := &bridge{
		protocol: protocol, metrics: m, logger: logger,
		server: &upstream.Server{
			Address: config.Server, Name: config.certifiedName(), Verification: config.Verification, Protocols: protocols,
			Credentials: credentials, ConnectTimeout: config.ConnectTimeout, HandshakeTimeout: config.HandshakeTimeout,
		},
		places: make(chan struct{}, config.MaxConnections),
	}
	logger.Info("serving", "listen", listener.Addr().String(), "server", config.Server, "server_name", config.certifiedName(),
		"verify", string(config.Verification), "max_connections", config.MaxConnections, "metrics_address", config.MetricsAddress)
	return b.serve(ctx, listener, config.DrainTimeout)
}

func listen(ctx context.Context, config *Config, m *metrics, logger *slog.Logger) (net.Listener, error) {
	if !config.isSocket() {
		return localsocket.ListenTCP("--listen", config.Listen)
	}
	socket, err := localsocket.Listen(ctx, config.Listen)
	if err != nil {
		return nil, err
	}
	return &localsocket.PeerListener{UnixListener: socket, Allowed: config.allowedUIDs(), Refused: m.peersRefused.Inc, Logger: logger}, nil
}

type bridge struct {
	protocol Protocol
	server   *upstream.Server
	metrics  *metrics
	logger   *slog.Logger
	places   chan struct{} // one for each connection that is open
	group    sync.WaitGroup
}

// serve accepts until the context ends, and then drains.
func (b *bridge) serve(ctx context.Context, listener net.Listener, drainTimeout time.Duration) error {
	// Connections outlive the context; this ends them.
	connections, endAll := context.WithCancel(context.WithoutCancel(ctx))
	defer endAll()
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil {
			b.logger.Error("a connection can not be accepted", "error", err.Error())
			time.Sleep(acceptPause)
			continue
		}
		b.group.Go(func() { b.connection(connections, client.(peer.Stream)) })
	}
	if ctx.Err() == nil {
		return fault.Failure(listener.Addr().String(), "the socket was closed", "start the bridge again")
	}
	b.drain(drainTimeout, endAll)
	return nil
}

func (b *bridge) drain(timeout time.Duration, endAll func()) {
	b.logger.Info("draining", "connections", len(b.places), "drain_timeout", timeout.String())
	drained := make(chan struct{})
	go func() {
		b.group.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(timeout):
		b.logger.Warn("connections are closed that did not end in time", "connections", len(b.places))
		endAll()
		<-drained
	}
	b.logger.Info("stopped")
}

// connection serves one client, from its first byte to its last.
func (b *bridge) connection(ctx context.Context, client peer.Stream) {
	defer client.Close()
	defer context.AfterFunc(ctx, func() { client.Close() })()

	// A place, or a word why there is none.
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	default:
		refusal := peer.Refuse(peer.TooMany, "the bridge", "too many connections", "close some, or raise --max-connections")
		b.protocol.Refuse(client, refusal)
		b.refused(client, refusal)
		return
	}
	b.metrics.open.Inc()
	defer b.metrics.open.Dec()

	// The protocol's own way into TLS.
	server, refusal := b.protocol.Establish(ctx, client, b.server)
	if refusal != nil {
		b.refused(client, refusal)
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { server.Close() })()
	b.metrics.established(server)

	// Bytes.
	if err := pump(client, server); err != nil && ctx.Err() == nil {
		b.logger.Info("a connection ended with an error", "error", err.Error())
	}
}

// refused counts and logs, and closes so that the client can read what it was told.
func (b *bridge) refused(client peer.Stream, refusal *peer.Refusal) {
	b.metrics.failures.WithLabelValues(string(refusal.Cause)).Inc()
	b.logger.Warn("connection refused", "reason", string(refusal.Cause), "error", refusal.Error())
	// What is unread when a TCP connection closes resets it, and the client may lose the error.
	if client.CloseWrite() != nil {
		return
	}
	_ = client.SetReadDeadline(time.Now().Add(closePatience))
	discard := make([]byte, idleBuffer)
	for {
		if _, err := client.Read(discard); err != nil {
			return
		}
	}
}
