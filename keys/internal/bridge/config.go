package bridge

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Settings is what a bridge is told in either direction.
type Settings struct {
	Listen         string   // path of a Unix socket, or HOST:PORT
	AllowUIDs      []uint32 // users who may connect to the Unix socket; none: the bridge's own
	MetricsAddress string   // HOST:PORT for metrics and the probe; "": none
	Files          peer.Files

	ConnectTimeout     time.Duration
	HandshakeTimeout   time.Duration // for TLS, and for what the server says before it
	FirstPacketTimeout time.Duration // for each packet of a client that has not logged in
	DrainTimeout       time.Duration // for open connections, when the bridge is told to end
	MaxConnections     int
}

// defaults is what holds where nothing else is told.
func defaults() Settings {
	return Settings{
		ConnectTimeout: 5 * time.Second,
		// Both protocols' servers answer in milliseconds.
		HandshakeTimeout: 10 * time.Second,
		// PostgreSQL's authentication_timeout.
		FirstPacketTimeout: time.Minute,
		DrainTimeout:       30 * time.Second,
		MaxConnections:     4096,
	}
}

// The limits of what can be asked for.
const (
	leastTimeout    = 100 * time.Millisecond
	mostTimeout     = time.Hour
	mostConnections = 65_536
)

// check refuses what can not work in either direction.
func (s *Settings) check() error {
	if s.Listen == "" {
		return fault.Input("--listen", "not given", "name the socket on which the bridge is reached: /PATH or HOST:PORT")
	}
	if len(s.AllowUIDs) > 0 && !isPath(s.Listen) {
		return fault.Input("--allow-uid", "nobody knows which user connects over TCP", "use a Unix socket in --listen, or leave the flag out")
	}
	for flag, timeout := range map[string]time.Duration{
		"--connect-timeout": s.ConnectTimeout, "--handshake-timeout": s.HandshakeTimeout,
		"--first-packet-timeout": s.FirstPacketTimeout, "--drain-timeout": s.DrainTimeout,
	} {
		if timeout < leastTimeout || timeout > mostTimeout {
			return fault.Input(flag+" "+timeout.String(), "out of range", fmt.Sprintf("use %s to %s", leastTimeout, mostTimeout))
		}
	}
	if s.MaxConnections < 1 || s.MaxConnections > mostConnections {
		return fault.Input("--max-connections "+strconv.Itoa(s.MaxConnections), "out of range", "use 1 to "+strconv.Itoa(mostConnections))
	}
	return nil
}

// isPath tells a Unix socket from HOST:PORT.
func isPath(address string) bool { return address != "" && address[0] == '/' }

// isLocal says whether an address is one that only this machine reaches.
func isLocal(address string) bool {
	if isPath(address) {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

func (s *Settings) isSocket() bool { return isPath(s.Listen) }

func (s *Settings) allowedUIDs() []uint32 {
	if len(s.AllowUIDs) > 0 {
		return s.AllowUIDs
	}
	return []uint32{uint32(os.Geteuid())}
}
