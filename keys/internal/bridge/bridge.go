// Package bridge stands beside Envoy and begins TLS within a database's protocol, which Envoy can not do: between Envoy and
// the server, or between clients and Envoy. It accepts connections, does the protocol's own way into TLS, and then moves
// bytes.
//
// It reads no statement and no row. It assumes that whoever can connect to its plain side may see what passes there:
// towards the server sealed values, towards clients all values, and passwords as the client sent them.
package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/hardening"
	"github.com/fieldveil/fieldveil/keys/internal/localsocket"
)

// leg is one of the two ways that a bridge can be.
type leg interface {
	// establish speaks with both sides until nothing has to be done any more but to move bytes. If it fails it has told
	// the client why, as far as the protocol has words for that.
	establish(ctx context.Context, accepted peer.Socket) (client, further peer.Stream, refusal *peer.Refusal)
	// refuse tells a client with which nothing was spoken yet why it can not be served.
	refuse(client net.Conn, refusal *peer.Refusal)
}

const (
	// closePatience is how long a client may take to read why it was refused.
	closePatience = time.Second
	// discardBuffer is for what a client still sends that was refused.
	discardBuffer = 4 << 10
	// acceptPause keeps a process without descriptors from spinning.
	acceptPause = 50 * time.Millisecond
)

// run serves until the context ends, and then until the open connections have ended or the time for that is over. It
// says what it is about when it begins.
func run(ctx context.Context, settings *Settings, l leg, m *metrics, logger *slog.Logger, about ...any) error {
	if _, err := hardening.Harden(logger); err != nil {
		return err
	}
	listener, err := listen(ctx, settings, m, logger)
	if err != nil {
		return err
	}
	defer listener.Close()
	if settings.MetricsAddress != "" {
		status, err := localsocket.ListenTCP("--metrics-address", settings.MetricsAddress)
		if err != nil {
			return err
		}
		defer status.Close()
		until, stop := context.WithCancel(context.WithoutCancel(ctx)) // metrics tell of the draining too
		defer stop()
		go serveStatus(until, status, m, logger)
	}
	b := &bridge{leg: l, metrics: m, logger: logger, places: make(chan struct{}, settings.MaxConnections)}
	logger.Info("serving", append([]any{"listen", listener.Addr().String(), "max_connections", settings.MaxConnections,
		"metrics_address", settings.MetricsAddress}, about...)...)
	return b.serve(ctx, listener, settings.DrainTimeout)
}

func listen(ctx context.Context, settings *Settings, m *metrics, logger *slog.Logger) (net.Listener, error) {
	if !settings.isSocket() {
		return localsocket.ListenTCP("--listen", settings.Listen)
	}
	socket, err := localsocket.Listen(ctx, settings.Listen)
	if err != nil {
		return nil, err
	}
	return &localsocket.PeerListener{UnixListener: socket, Allowed: settings.allowedUIDs(), Refused: m.peersRefused.Inc, Logger: logger}, nil
}

type bridge struct {
	leg     leg
	metrics *metrics
	logger  *slog.Logger
	places  chan struct{} // one for each connection that is open
	group   sync.WaitGroup
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
		b.group.Go(func() { b.connection(connections, client.(peer.Socket)) })
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
func (b *bridge) connection(ctx context.Context, accepted peer.Socket) {
	defer accepted.Close()
	defer context.AfterFunc(ctx, func() { accepted.Close() })()

	// A place, or a word why there is none.
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	default:
		refusal := peer.Refuse(peer.TooMany, "the bridge", "too many connections", "close some, or raise --max-connections")
		b.leg.refuse(accepted, refusal)
		b.refused(accepted, refusal)
		return
	}
	b.metrics.open.Inc()
	defer b.metrics.open.Dec()

	// The protocol's own way into TLS.
	client, further, refusal := b.leg.establish(ctx, accepted)
	if refusal != nil {
		b.refused(accepted, refusal)
		return
	}
	defer further.Close()
	defer context.AfterFunc(ctx, func() { further.Close() })()

	// Bytes.
	if err := pump(client, further); err != nil && ctx.Err() == nil {
		b.logger.Info("a connection ended with an error", "error", err.Error())
	}
}

// refused counts and logs, and closes so that the client can read what it was told.
func (b *bridge) refused(client peer.Stream, refusal *peer.Refusal) {
	b.metrics.failures.WithLabelValues(string(refusal.Cause)).Inc()
	b.logger.Warn("connection refused", "client", client.RemoteAddr().String(), "reason", string(refusal.Cause), "error", refusal.Error())
	// What is unread when a TCP connection closes resets it, and the client may lose the error.
	if client.CloseWrite() != nil {
		return
	}
	_ = client.SetReadDeadline(time.Now().Add(closePatience))
	discard := make([]byte, discardBuffer)
	for {
		if _, err := client.Read(discard); err != nil {
			return
		}
	}
}
