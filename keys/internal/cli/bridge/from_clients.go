package bridge

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/bridge"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

func newFromClients() *cobra.Command {
	var protocol protocolFlags
	var uids uidFlag
	config := bridge.ClientsDefaults()
	c := &cobra.Command{
		Use:   "from-clients",
		Short: "Begin TLS with clients within their protocol, and lead them to Envoy",
		Long: "Stand between clients and Envoy: accept connections over TCP or on a Unix socket, begin TLS as\n" +
			"the client asks for it, and move bytes to Envoy's listener, which only this machine reaches.\n" +
			"Clients without TLS are refused, and told why, unless --allow-plain lets them in. Envoy is told\n" +
			"each client's address by the PROXY protocol, version 2, which its listener has to expect.\n" +
			"Files of certificates are read anew for each connection. SIGTERM and SIGINT end it when the\n" +
			"open connections have ended, or after --drain-timeout.",
		Example: "  fieldveil bridge from-clients --protocol postgres --listen 0.0.0.0:5432 --envoy /run/fieldveil/envoy.sock \\\n" +
			"    --certificate /etc/fieldveil/tls.crt --key /etc/fieldveil/tls.key --metrics-address 127.0.0.1:9104",
		Args: command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			speaks, names, err := protocol.fromClients(config.FirstPacketTimeout)
			if err != nil {
				return err
			}
			if config.AllowUIDs, err = uids.parse(); err != nil {
				return err
			}
			return untilStopped(c, func(ctx context.Context, logger *slog.Logger) error {
				return bridge.RunFromClients(ctx, config, speaks, names, logger)
			})
		},
	}
	protocol.add(c)
	protocol.addPassSCRAM(c)
	addSettings(c, &config.Settings)
	flags := c.Flags()
	flags.StringVar(&config.Listen, "listen", "", "`ADDRESS` for clients: HOST:PORT, or the path of a Unix socket")
	uids.add(c, "the application's")
	flags.StringVar(&config.Envoy, "envoy", "", "`ADDRESS` of Envoy's listener: the path of its Unix socket, or HOST:PORT of the loopback")
	flags.BoolVar(&config.ProxyProtocol, "proxy-protocol", config.ProxyProtocol, "tell Envoy each client's address by the PROXY protocol, version 2")
	flags.StringVar(&config.Files.Certificate, "certificate", "", "PEM `FILE` of the certificate that clients verify, with its chain")
	flags.StringVar(&config.Files.Key, "key", "", "PEM `FILE` of its private key")
	flags.StringVar(&config.SPIFFESocket, "spiffe-socket", "", "`ADDRESS` of SPIFFE's Workload API, such as unix:///run/spire/sockets/agent.sock: its X.509-SVID is the certificate, in place of both files")
	flags.StringVar(&config.Files.CA, "client-ca", "", "PEM `FILE` of the authorities of clients' certificates (default: none is asked for)")
	flags.StringVar((*string)(&config.Certificates), "client-certificates", string(config.Certificates), "`MODE` with --client-ca: required, or optional, which lets in who shows none")
	flags.BoolVar(&config.AllowPlain, "allow-plain", false, "let clients without TLS in too, which show no certificate either")
	flags.DurationVar(&config.ConnectTimeout, "connect-timeout", config.ConnectTimeout, "how long the connection to Envoy may take")
	flags.DurationVar(&config.HandshakeTimeout, "handshake-timeout", config.HandshakeTimeout, "how long the client may take for TLS's handshake")
	return c
}
