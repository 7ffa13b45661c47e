package bridge

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Config is what a bridge is told, besides its protocol.
type Config struct {
	Listen         string   // path of a Unix socket, or HOST:PORT of the loopback
	AllowUIDs      []uint32 // users who may connect to the Unix socket; none: the bridge's own
	MetricsAddress string   // HOST:PORT for metrics and the probe; "": none

	Server       string // HOST:PORT
	ServerName   string // that the certificate must carry; "": the host of Server
	Verification upstream.Verification
	Files        peer.Files

	ConnectTimeout     time.Duration
	HandshakeTimeout   time.Duration // for what the server says before TLS, and TLS
	FirstPacketTimeout time.Duration // for each packet of a client that has not logged in
	DrainTimeout       time.Duration // for open connections, when the bridge is told to end
	MaxConnections     int
}

// Defaults is what holds where nothing else is told.
func Defaults() Config {
	return Config{
		Verification:   upstream.VerifyFull,
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

// Check refuses settings that could not work.
func (c *Config) Check() error {
	if c.Listen == "" {
		return fault.Input("--listen", "not given", "name the Unix socket, or HOST:PORT of the loopback, on which Envoy reaches the bridge")
	}
	if err := c.checkListen(); err != nil {
		return err
	}
	if err := c.checkServer(); err != nil {
		return err
	}
	if (c.Files.Certificate == "") != (c.Files.Key == "") {
		return fault.Input("--client-certificate and --client-key", "one without the other", "give both, or neither")
	}
	for flag, timeout := range map[string]time.Duration{
		"--connect-timeout": c.ConnectTimeout, "--handshake-timeout": c.HandshakeTimeout,
		"--first-packet-timeout": c.FirstPacketTimeout, "--drain-timeout": c.DrainTimeout,
	} {
		if timeout < leastTimeout || timeout > mostTimeout {
			return fault.Input(flag+" "+timeout.String(), "out of range", fmt.Sprintf("use %s to %s", leastTimeout, mostTimeout))
		}
	}
	if c.MaxConnections < 1 || c.MaxConnections > mostConnections {
		return fault.Input("--max-connections "+strconv.Itoa(c.MaxConnections), "out of range", "use 1 to "+strconv.Itoa(mostConnections))
	}
	return nil
}

func (c *Config) checkListen() error {
	if c.isSocket() {
		return nil
	}
	if len(c.AllowUIDs) > 0 {
		return fault.Input("--allow-uid", "nobody knows which user connects over TCP", "use a Unix socket in --listen, or leave the flag out")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fault.Input("--listen "+c.Listen, "neither an absolute path nor an address of the loopback",
			"use /PATH of a Unix socket, or 127.0.0.1:PORT: what comes in is not encrypted")
	}
	return nil
}

func (c *Config) checkServer() error {
	if c.Server == "" {
		return fault.Input("--server", "not given", "name the server's HOST:PORT")
	}
	host, port, err := net.SplitHostPort(c.Server)
	if number, failed := strconv.ParseUint(port, 10, 16); err != nil || host == "" || failed != nil || number == 0 {
		return fault.Input("--server "+c.Server, "not HOST:PORT", "use the server's name or address and its port, an IPv6 address in brackets")
	}
	switch c.Verification {
	case upstream.VerifyFull, upstream.VerifyCA:
	default:
		return fault.Input("--verify "+string(c.Verification), "no such mode",
			"use verify-full, or verify-ca where the certificate carries no name of the server; nothing less is offered")
	}
	return nil
}

// certifiedName is the name that the server's certificate must carry.
func (c *Config) certifiedName() string {
	if c.ServerName != "" {
		return c.ServerName
	}
	host, _, _ := net.SplitHostPort(c.Server)
	return host
}

func (c *Config) isSocket() bool { return c.Listen != "" && c.Listen[0] == '/' }

func (c *Config) allowedUIDs() []uint32 {
	if len(c.AllowUIDs) > 0 {
		return c.AllowUIDs
	}
	return []uint32{uint32(os.Geteuid())}
}
