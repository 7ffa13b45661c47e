package bridge

import (
	"net"
	"strconv"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/upstream"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Config is what a bridge to a server is told, besides its protocol.
type Config struct {
	Settings
	Server       string // HOST:PORT
	ServerName   string // that the certificate must carry; "": the host of Server
	Verification upstream.Verification
}

// Defaults is what holds where nothing else is told.
func Defaults() Config { return Config{Settings: defaults(), Verification: upstream.VerifyFull} }

// Check refuses settings that could not work.
func (c *Config) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	if !isLocal(c.Listen) {
		return fault.Input("--listen "+c.Listen, "neither an absolute path nor an address of the loopback",
			"use /PATH of a Unix socket, or 127.0.0.1:PORT: what comes in is not encrypted")
	}
	if (c.Files.Certificate == "") != (c.Files.Key == "") {
		return fault.Input("--client-certificate and --client-key", "one without the other", "give both, or neither")
	}
	return c.checkServer()
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
