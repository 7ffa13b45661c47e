package bridge

import (
	"github.com/fieldveil/fieldveil/keys/internal/bridge/downstream"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/spiffe"
)

// ClientsConfig is what a bridge from clients is told, besides its protocol.
type ClientsConfig struct {
	Settings             // of the files, the authorities are those of clients' certificates
	Envoy         string // path of the Unix socket of Envoy's listener, or HOST:PORT of the loopback
	Certificates  downstream.Certificates
	AllowPlain    bool
	SPIFFESocket  string // address of the Workload API that gives the bridge's own certificate; "": files have it
	ProxyProtocol bool
}

// ClientsDefaults is what holds where nothing else is told.
func ClientsDefaults() ClientsConfig {
	return ClientsConfig{Settings: defaults(), Certificates: downstream.Required, ProxyProtocol: true}
}

// Check refuses settings that could not work.
func (c *ClientsConfig) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Envoy == "" {
		return fault.Input("--envoy", "not given", "name the Unix socket, or HOST:PORT of the loopback, on which Envoy listens")
	}
	if !isLocal(c.Envoy) {
		return fault.Input("--envoy "+c.Envoy, "neither an absolute path nor an address of the loopback",
			"use /PATH of a Unix socket, or 127.0.0.1:PORT: what goes there is not encrypted")
	}
	switch {
	case c.SPIFFESocket != "" && c.Files.Certificate+c.Files.Key != "":
		return fault.Input("--spiffe-socket", "files have the certificate already", "leave out --certificate and --key, or this")
	case c.SPIFFESocket != "":
		if err := spiffe.CheckSocket(c.SPIFFESocket); err != nil {
			return err
		}
	case c.Files.Certificate == "" || c.Files.Key == "":
		return fault.Input("--certificate and --key", "not given", "give both, the certificate that clients verify and its private key, or --spiffe-socket")
	}
	if c.Files.CA != "" && (isPath(c.Listen) || !c.ProxyProtocol) {
		return fault.Input("--client-ca", "Envoy is not told whom certificates name, of clients at a Unix socket or without the PROXY protocol",
			"listen on HOST:PORT and leave --proxy-protocol as it is, or leave this out")
	}
	switch c.Certificates {
	case downstream.Required, downstream.Optional:
	default:
		return fault.Input("--client-certificates "+string(c.Certificates), "no such mode", "use required or optional")
	}
	return nil
}
