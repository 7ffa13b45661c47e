package bridge

import (
	"context"
	"log/slog"
	"net"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
)

// Protocol is how a database's protocol gets into TLS with a server.
type Protocol interface {
	// Establish speaks with both sides until nothing has to be done any more but to move bytes. If it fails it has told
	// the client why, as far as the protocol has words for that.
	Establish(ctx context.Context, client net.Conn, server *upstream.Server) (*peer.Conn, *peer.Refusal)
	// Refuse tells a client with which nothing was spoken yet why it can not be served.
	Refuse(client net.Conn, refusal *peer.Refusal)
}

// Run leads connections of Envoy into TLS with the server, until the context ends and the connections have ended.
func Run(ctx context.Context, config Config, protocol Protocol, protocols []string, logger *slog.Logger) error {
	if err := config.Check(); err != nil {
		return err
	}
	credentials, err := peer.OpenCredentials(config.Files, nil, logger)
	if err != nil {
		return err
	}
	m := newMetrics(credentials, "client_certificate")
	l := &toServer{protocol: protocol, metrics: m, server: &upstream.Server{
		Address: config.Server, Name: config.certifiedName(), Verification: config.Verification, Protocols: protocols,
		Credentials: credentials, ConnectTimeout: config.ConnectTimeout, HandshakeTimeout: config.HandshakeTimeout,
	}}
	return run(ctx, &config.Settings, l, m, logger,
		"server", config.Server, "server_name", config.certifiedName(), "verify", string(config.Verification))
}

// toServer is the way from Envoy to the server.
type toServer struct {
	protocol Protocol
	server   *upstream.Server
	metrics  *metrics
}

func (l *toServer) establish(ctx context.Context, client peer.Socket) (near, far peer.Stream, refusal *peer.Refusal) {
	secure, refusal := l.protocol.Establish(ctx, client, l.server)
	if refusal != nil {
		return nil, nil, refusal
	}
	l.metrics.establishedWithServer(secure)
	return client, secure, nil
}

func (l *toServer) refuse(client net.Conn, refusal *peer.Refusal) { l.protocol.Refuse(client, refusal) }
