// Package bridge is the command that begins TLS beside Envoy: with the server, and with clients.
package bridge

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/bridge"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// New makes the command.
func New() *cobra.Command {
	var protocol protocolFlags
	var uids uidFlag
	config := bridge.Defaults()
	c := &cobra.Command{
		Use:   "bridge",
		Short: "Begin TLS within a database's protocol, which Envoy can not do: with the server, or with clients",
		Long: "Stand between Envoy and a server that begins TLS within its own protocol: accept connections\n" +
			"without TLS on a Unix socket of mode 0600, or on loopback, begin verified TLS with the server,\n" +
			"and move bytes. What does not verify, or offers no TLS, is refused, and the client is told why.\n" +
			"Files of certificates are read anew for each connection. SIGTERM and SIGINT end it when the\n" +
			"open connections have ended, or after --drain-timeout.\n\n" +
			"The other way, between clients and Envoy, is the command from-clients.",
		Example: "  fieldveil bridge --protocol postgres --listen /run/fieldveil/orders.sock \\\n" +
			"    --server db.example.com:5432 --ca /etc/fieldveil/server-ca.pem --metrics-address 127.0.0.1:9103",
		Args: command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			speaks, names, err := protocol.toServer(config.FirstPacketTimeout)
			if err != nil {
				return err
			}
			if config.AllowUIDs, err = uids.parse(); err != nil {
				return err
			}
			return untilStopped(c, func(ctx context.Context, logger *slog.Logger) error {
				return bridge.Run(ctx, config, speaks, names, logger)
			})
		},
	}
	c.AddCommand(newFromClients())
	protocol.add(c)
	protocol.addDirect(c)
	addSettings(c, &config.Settings)
	flags := c.Flags()
	flags.StringVar(&config.Listen, "listen", "", "`PATH` of the Unix socket for Envoy, or HOST:PORT of the loopback")
	uids.add(c, "Envoy's")
	flags.StringVar(&config.Server, "server", "", "`HOST:PORT` of the server")
	flags.StringVar(&config.ServerName, "server-name", "", "`NAME` that the server's certificate must carry, also sent as SNI (default: the host of --server)")
	flags.StringVar((*string)(&config.Verification), "verify", string(config.Verification), "`MODE`: verify-full, or verify-ca, which does not compare the name")
	flags.StringVar(&config.Files.CA, "ca", "", "PEM `FILE` of the authorities to trust (default: the system's)")
	flags.StringVar(&config.Files.Certificate, "client-certificate", "", "PEM `FILE` of the bridge's own certificate with its chain, where the server asks for one")
	flags.StringVar(&config.Files.Key, "client-key", "", "PEM `FILE` of its private key")
	flags.DurationVar(&config.ConnectTimeout, "connect-timeout", config.ConnectTimeout, "how long the connection to the server may take, without TLS")
	flags.DurationVar(&config.HandshakeTimeout, "handshake-timeout", config.HandshakeTimeout, "how long the server may take to begin TLS")
	return c
}
