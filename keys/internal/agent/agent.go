// Package agent opens keysets through the KMS and serves them, in clear, over a
// Unix socket to the Envoy beside it.
//
// What it serves is every key there is: the socket's mode and a check of who
// connects guard it. Keysets are never served over TCP.
package agent

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/localsocket"
)

const (
	// shutdownGrace lets answers under way be finished; they take milliseconds.
	shutdownGrace = 5 * time.Second
	// readTimeout bounds a peer that begins a request and does not end it.
	readTimeout = 5 * time.Second
	// writeTimeout bounds a peer that does not read its answer.
	writeTimeout = 10 * time.Second
	// idleTimeout is above any refresh that Envoy is likely to be set to.
	idleTimeout = 5 * time.Minute
	// statusIdleTimeout is short: a place for metrics and probes is anybody's.
	statusIdleTimeout = 5 * time.Second
	// maxHeaderBytes has room for the names of a thousand tenants in a request.
	maxHeaderBytes = 256 << 10
)

// Run serves what the folder holds until the context ends, and removes the
// socket. Once its settings are understood it goes on whatever the KMS or the
// folder does: what they lack, it waits for.
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
	if _, err := openKEK(); fault.ExitStatus(err) == fault.ExitBadInput {
		return err
	}
	return run(ctx, &config, store, openKEK, logger)
}

func run(ctx context.Context, config *Config, store *keystore.Store, openKEK func() (tink.AEAD, error), logger *slog.Logger) error {
	// Sockets first: a second agent is told so before it asks the KMS for anything.
	m := newMetrics(config.MemoryLocked)
	socket, err := localsocket.Listen(ctx, config.Socket)
	if err != nil && ctx.Err() != nil {
		return nil // told to end before it began
	}
	if err != nil {
		return err
	}
	defer socket.Close()
	var status net.Listener
	if config.MetricsAddress != "" {
		if status, err = localsocket.ListenTCP("--metrics-address", config.MetricsAddress); err != nil {
			return err
		}
		defer status.Close()
	}

	var bundle net.Listener
	if config.PolicyAddress != "" {
		if bundle, err = listenBundle(config.PolicyAddress); err != nil {
			return err
		}
		defer bundle.Close()
	}

	// Scan and open for as long as this serves. A KMS that hangs holds up the
	// opener alone; at the end nobody waits for it.
	s := newState(config, newClock(sinceBoot))
	defer s.stop()
	if config.SpiffeSocket != "" {
		s.identity = newIdentity()
	}
	m.registry.MustRegister(collector{s})
	changes := &changeLogger{state: s, folder: store.Folder(), logger: logger, problems: map[string]string{}}
	scanner := &folderScanner{store: store, state: s, changes: changes}
	opener := &opener{kms: &kms{openKEK: openKEK, observe: m.observeKMS, now: time.Now}, state: s, changes: changes}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.identity != nil {
		s.identity.changed = func(id string) {
			logger.Info("the workload's identity", "spiffe_id", id)
			changes.log()
		}
		go s.identity.watch(ctx, config.SpiffeSocket, logger)
	}
	go opener.run(ctx)
	go scanner.run(ctx, config.Refresh)

	peers := &localsocket.PeerListener{UnixListener: socket, Allowed: config.allowedUIDs(), Refused: m.peersRefused.Inc, Logger: logger}
	if unreachable := config.unreachableUIDs(); len(unreachable) > 0 {
		logger.Warn("allowed users that the socket's mode 0600 does not let connect: run the agent as the same user as Envoy", "uids", unreachable)
	}
	logger.Info("serving", "socket", config.Socket, "allowed_uids", peers.Allowed, "metrics_address", config.MetricsAddress,
		"refresh", config.Refresh.String(), "kms_check", config.KMSCheck.String(),
		"max_offline", config.MaxOffline.String(), "max_refused", config.MaxRefused.String())
	forSocket, forStatus := connectionLimits()
	servers := []*served{{limit(peers, forSocket), newSocketHandler(s, store, m), idleTimeout}}
	if status != nil {
		servers = append(servers, &served{limit(status, forStatus), newStatusHandler(s, m), statusIdleTimeout})
	}
	if bundle != nil {
		servers = append(servers, &served{limit(bundle, forStatus), newBundleHandler(config.PolicyBundle, m), idleTimeout})
	}
	return serveAll(ctx, cancel, servers, logger)
}

type served struct {
	listener net.Listener
	handler  http.Handler
	idle     time.Duration // how long a connection may be without a request
}

// serveAll serves until the context ends, or until one of the servers fails.
func serveAll(ctx context.Context, cancel context.CancelFunc, servers []*served, logger *slog.Logger) error {
	failures := make([]error, len(servers))
	var group sync.WaitGroup
	for i, one := range servers {
		group.Go(func() {
			defer cancel()
			failures[i] = one.serve(ctx, logger)
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// serve answers until the context ends. Closing the server removes the socket.
func (one *served) serve(ctx context.Context, logger *slog.Logger) error {
	listener := one.listener
	server := &http.Server{
		Handler:           one.handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       one.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		// Else "OPTIONS *" has an answer that none of ours is.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	select {
	case err := <-served:
		listener.Close()
		return fault.Failure(listener.Addr().String(), "serving ended ("+err.Error()+")", "start the agent again")
	case <-ctx.Done():
	}
	logger.Info("stopping", "address", listener.Addr().String())
	graceful, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(graceful); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	} else if err != nil {
		return fault.Failure(listener.Addr().String(), "the socket did not close well ("+err.Error()+")", "remove it if it is still there")
	}
	return nil
}
