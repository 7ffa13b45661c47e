package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// statusTimeout bounds a peer that begins a request and does not end it, or does not read its answer.
	statusTimeout = 5 * time.Second
	// maxStatusHeader has room for what Prometheus and probes send.
	maxStatusHeader = 8 << 10
)

// serveStatus answers GET /livez and /metrics until the context ends.
func serveStatus(ctx context.Context, listener net.Listener, m *metrics, logger *slog.Logger) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.Handle("GET /metrics", m.handler)
	server := &http.Server{
		Handler: mux, ReadTimeout: statusTimeout, WriteTimeout: statusTimeout, IdleTimeout: statusTimeout,
		MaxHeaderBytes: maxStatusHeader, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		logger.Error("metrics are served no more", "address", listener.Addr().String(), "error", err.Error())
	}
}
