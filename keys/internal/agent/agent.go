// Package agent opens keysets through the KMS and serves them, in clear, over a
// Unix socket to the Envoy beside it.
//
// What it serves is every key there is: the socket's mode is what guards it. Not
// for use over TCP. It assumes that Envoy runs as the same user.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// Config is what an agent is told.
type Config struct {
	Keysets  string        // the folder of encrypted keysets
	Socket   string        // path of the Unix socket to serve on
	KeyURI   string        // of the key-encryption key
	Refresh  time.Duration // time between two openings, give or take a tenth
	MaxStale time.Duration // how long a keyset that no longer opens is still served
}

const (
	// MinRefresh keeps a slip of the pen from becoming a load on the KMS.
	MinRefresh = 100 * time.Millisecond
	// shutdownGrace lets answers under way be finished; they take milliseconds.
	shutdownGrace = 5 * time.Second
	// readTimeout bounds a peer that begins a request and does not end it.
	readTimeout = 5 * time.Second
	// writeTimeout bounds a peer that does not read its answer.
	writeTimeout = 10 * time.Second
	// idleTimeout is above any refresh that Envoy is likely to be set to.
	idleTimeout = 5 * time.Minute
	// maxHeaderBytes is ample: Envoy's callout sends some hundred bytes.
	maxHeaderBytes = 16 << 10
)

// Check refuses settings that could not work.
func (c *Config) Check() error {
	if c.Refresh < MinRefresh {
		return fault.Input("--refresh "+c.Refresh.String(), "too short", "use at least "+MinRefresh.String())
	}
	if c.MaxStale < 2*c.Refresh {
		return fault.Input("--max-stale "+c.MaxStale.String(), "keysets would go stale between two refreshes",
			fmt.Sprintf("use at least twice --refresh (%s)", 2*c.Refresh))
	}
	return nil
}

// Run opens the keysets, serves them until the context ends, and removes the
// socket. It fails if no keyset opens at the start.
func Run(ctx context.Context, config Config, logger *slog.Logger) error {
	if err := config.Check(); err != nil {
		return err
	}

	// What the flags name must be there: that can be said best before anything runs.
	store, err := keystore.Open(config.Keysets)
	if err != nil {
		return err
	}
	openKEK := func() (tink.AEAD, error) { return kek.Open(config.KeyURI) }
	if _, err := openKEK(); err != nil {
		return err
	}

	// Open once; who finds the socket finds keys behind it.
	r := &refresher{store: store, openKEK: openKEK, state: newState(config.MaxStale, time.Now), logger: logger}
	r.refresh()
	if len(r.state.view().keysets) == 0 {
		return fault.Failure("no keyset opens", describe(r.state.reasons()), "the agent has nothing to serve")
	}

	// Serve, and open again on a timer. A KMS that hangs holds up the timer alone.
	listener, err := listen(config.Socket)
	if err != nil {
		return err
	}
	logger.Info("serving keysets", "socket", config.Socket, "refresh", config.Refresh, "max_stale", config.MaxStale)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go r.run(ctx, config.Refresh)
	return serve(ctx, listener, newHandler(r.state), logger)
}

// serve answers until the context ends. Closing the server removes the socket.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	select {
	case err := <-served:
		listener.Close()
		return fault.Failure(listener.Addr().String(), "serving ended ("+err.Error()+")", "start the agent again")
	case <-ctx.Done():
	}
	logger.Info("stopping")
	graceful, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(graceful); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	} else if err != nil {
		return fault.Failure(listener.Addr().String(), "the socket did not close well ("+err.Error()+")", "remove it if it is still there")
	}
	return nil
}

// jittered spreads agents that were started together.
func jittered(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.9 + 0.2*rand.Float64()))
}
