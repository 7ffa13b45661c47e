package bridge

import (
	"context"
	"log/slog"
	"net"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/spiffe"
)

// ClientProtocol is how a database's clients begin TLS.
type ClientProtocol interface {
	// Accept speaks with both sides until nothing has to be done any more but to move bytes. If it fails it has told the
	// client why, as far as the protocol has words for that.
	Accept(ctx context.Context, client peer.Socket, door *downstream.Door) (*downstream.Session, *peer.Refusal)
	// Refuse tells a client with which nothing was spoken yet why it can not be served.
	Refuse(client net.Conn, refusal *peer.Refusal)
}

// RunFromClients leads clients' connections out of their TLS to Envoy, until the context ends and the connections have
// ended.
func RunFromClients(ctx context.Context, config ClientsConfig, protocol ClientProtocol, protocols []string, logger *slog.Logger) error {
	if err := config.Check(); err != nil {
		return err
	}
	var own peer.Own
	if config.SPIFFESocket != "" {
		svid, stop, err := spiffe.Certificate(ctx, config.SPIFFESocket)
		if err != nil {
			return err
		}
		defer stop() // when the last connection has ended, not when the draining begins
		own = svid
	}
	credentials, err := peer.OpenCredentials(config.Files, own, logger)
	if err != nil {
		return err
	}
	m := newMetrics(credentials, "certificate")
	l := &fromClients{protocol: protocol, metrics: m, door: &downstream.Door{
		Envoy:       downstream.Envoy{Address: config.Envoy, ProxyProtocol: config.ProxyProtocol, ConnectTimeout: config.ConnectTimeout},
		Credentials: credentials, Certificates: config.Certificates, Protocols: protocols, AllowPlain: config.AllowPlain,
		HandshakeTimeout: config.HandshakeTimeout,
	}}
	m.countPlain()
	return run(ctx, &config.Settings, l, m, logger, "envoy", config.Envoy, "proxy_protocol", config.ProxyProtocol,
		"client_ca", config.Files.CA, "client_certificates", string(config.Certificates), "allow_plain", config.AllowPlain)
}

// fromClients is the way from clients to Envoy.
type fromClients struct {
	protocol ClientProtocol
	door     *downstream.Door
	metrics  *metrics
}

func (l *fromClients) establish(ctx context.Context, accepted peer.Socket) (near, far peer.Stream, refusal *peer.Refusal) {
	session, refusal := l.protocol.Accept(ctx, accepted, l.door)
	if refusal != nil {
		return nil, nil, refusal
	}
	if _, ok := session.Client.(*peer.Conn); ok {
		l.metrics.handshakes.Inc()
	} else {
		l.metrics.plain.Inc()
	}
	return session.Client, session.Envoy, nil
}

func (l *fromClients) refuse(client net.Conn, refusal *peer.Refusal) {
	l.protocol.Refuse(client, refusal)
}
