package downstream

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Envoy is how Envoy's listener is reached.
type Envoy struct {
	Address        string // path of a Unix socket, or HOST:PORT of the loopback
	ProxyProtocol  bool   // Envoy is told the client's address, by a header of the PROXY protocol
	ConnectTimeout time.Duration
}

// Dial connects to Envoy, for this client, and tells it where the client comes from and whom its certificate names.
func (e *Envoy) Dial(ctx context.Context, client net.Conn, names CertificateNames) (peer.Stream, *peer.Refusal) {
	network := "tcp"
	if e.Address[0] == '/' {
		network = "unix"
	}
	dialer := net.Dialer{Timeout: e.ConnectTimeout}
	connection, err := dialer.DialContext(ctx, network, e.Address)
	if err != nil {
		return nil, peer.Refuse(peer.Unreachable, e.Address, "no connection to Envoy ("+peer.Reason(err)+")", "see whether Envoy runs, and whether --envoy names its listener")
	}
	if e.ProxyProtocol {
		if _, err := connection.Write(proxyHeader(client.RemoteAddr(), client.LocalAddr(), names)); err != nil {
			connection.Close()
			return nil, e.Classify(err)
		}
	}
	return connection.(peer.Stream), nil
}

// Classify turns an error of speaking with Envoy into a refusal.
func (e *Envoy) Classify(err error) *peer.Refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return peer.Refuse(peer.ServerTimeout, e.Address, "Envoy did not go on in time", "see Envoy's log, or raise --handshake-timeout")
	}
	return peer.Refuse(peer.ServerDisconnected, e.Address, "Envoy closed the connection", "see Envoy's log, and whether its listener expects the PROXY protocol as --proxy-protocol says")
}
