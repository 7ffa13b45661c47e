package bridge

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/bridge"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/mysql"
	"github.com/fieldveil/fieldveil/keys/internal/bridge/postgres"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// protocolFlags choose the protocol.
type protocolFlags struct {
	name   string
	direct bool
	scram  bool
}

func (f *protocolFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.name, "protocol", "", "`NAME`: postgres or mysql, which is MariaDB's too")
}

func (f *protocolFlags) addDirect(c *cobra.Command) {
	c.Flags().BoolVar(&f.direct, "direct-tls", false, "begin TLS at once, by ALPN, which PostgreSQL 17 and later take")
}

func (f *protocolFlags) addPassSCRAM(c *cobra.Command) {
	c.Flags().BoolVar(&f.scram, "pass-scram", false, "pass SCRAM as it is and ask no client for its password, where Envoy reaches the PostgreSQL server without TLS")
}

// toServer gives the protocol, and its names for ALPN.
func (f *protocolFlags) toServer(firstPacket time.Duration) (bridge.Protocol, []string, error) {
	switch f.name {
	case "postgres":
		return postgres.Protocol{Direct: f.direct, FirstPacketTimeout: firstPacket}, []string{postgres.ALPN}, nil
	case "mysql":
		if f.direct {
			return nil, nil, fault.Input("--direct-tls", "no server of MySQL's protocol takes TLS at once", "leave it out")
		}
		return mysql.Protocol{LoginTimeout: firstPacket}, nil, nil
	}
	return nil, nil, f.unknown()
}

// fromClients gives the clients' protocol, and its names for ALPN.
func (f *protocolFlags) fromClients(firstPacket time.Duration) (bridge.ClientProtocol, []string, error) {
	switch f.name {
	case "postgres":
		return postgres.Clients{FirstPacketTimeout: firstPacket, PassSCRAM: f.scram}, []string{postgres.ALPN}, nil
	case "mysql":
		if f.scram {
			return nil, nil, fault.Input("--pass-scram", "no client of MySQL's protocol logs in so", "leave it out")
		}
		return mysql.Clients{LoginTimeout: firstPacket}, nil, nil
	}
	return nil, nil, f.unknown()
}

func (f *protocolFlags) unknown() error {
	if f.name == "" {
		return fault.Input("--protocol", "not given", "use postgres or mysql")
	}
	return fault.Input("--protocol "+f.name, "no such protocol", "use postgres or mysql")
}
