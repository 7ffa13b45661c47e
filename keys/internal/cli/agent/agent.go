// Package agent is the command that serves keysets to Envoy.
package agent

import (
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/agent"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/hardening"
)

// New makes the command.
func New() *cobra.Command {
	var keysets keyflag.Keysets
	var kek keyflag.KEK
	var uids []uint
	config := agent.Defaults()
	c := &cobra.Command{
		Use:   "agent",
		Short: "Open keysets and serve them to Envoy over a Unix socket",
		Long: "Open the keysets of a folder through the KMS and serve them, in clear, to the Envoy beside\n" +
			"it: GET /v1/keysets over a Unix socket of mode 0600, to the allowed users alone. Files that\n" +
			"change are taken up, ones that break are refused and the earlier ones kept, and ones that\n" +
			"are removed are served no more. While the KMS does not answer, what is open is served for\n" +
			"--max-offline. GET /livez, /readyz and /metrics are answered there and, over TCP, on\n" +
			"--metrics-address. SIGTERM and SIGINT stop the agent and remove the socket.",
		Example: "  fieldveil agent --keysets /keysets --kek-uri hcvault://vault.example.com:8200/transit/keys/fieldveil \\\n" +
			"    --socket /run/fieldveil/agent.sock --metrics-address 127.0.0.1:9102",
		Args: command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := keysets.Check(); err != nil {
				return err
			}
			if config.Socket == "" {
				return fault.Input("--socket", "not given", "name the Unix socket to serve on")
			}
			if err := kek.Check(); err != nil {
				return err
			}
			config.Keysets, config.KeyURI = keysets.Folder, kek.URI
			var err error
			if config.AllowUIDs, err = command.ParseUIDs("--allow-uid", uids); err != nil {
				return err
			}
			if err := config.Check(); err != nil {
				return err
			}
			logger := slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil))
			if kek.Insecure() {
				logger.Warn("INSECURE: the key-encryption key is a file in clear text; for development only")
			}
			if config.MemoryLocked, err = hardening.Harden(logger); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return agent.Run(ctx, config, logger)
		},
	}
	keysets.Add(c)
	kek.Add(c)
	flags := c.Flags()
	flags.StringVar(&config.Socket, "socket", "", "`PATH` of the Unix socket; a stale one is replaced, a live one is not")
	flags.UintSliceVar(&uids, "allow-uid", nil, "`UID` of a user who is answered on the socket, Envoy's; may be repeated (default: the agent's own)")
	flags.Lookup("allow-uid").DefValue = "" // or the help shows an empty list
	flags.StringVar(&config.MetricsAddress, "metrics-address", "", "`HOST:PORT` for /livez, /readyz and /metrics over TCP; keysets are never served there")
	flags.StringVar(&config.PolicyBundle, "policy-bundle", "", "`FILE` with signed policies, a mounted one, that OPA is to poll at /fieldveil.tar.gz")
	flags.StringVar(&config.PolicyAddress, "policy-address", "", "`HOST:PORT` of the loopback, for --policy-bundle")
	flags.StringVar(&config.SpiffeSocket, "spiffe-socket", "", "`ADDRESS` of SPIFFE's Workload API, such as unix:///run/spire/sockets/agent.sock: its answer says which workload runs here")
	flags.DurationVar(&config.Refresh, "refresh", config.Refresh, "time between two looks at the files, give or take a tenth")
	flags.DurationVar(&config.KMSCheck, "kms-check", config.KMSCheck, "time between two openings of an unchanged keyset through the KMS, give or take a tenth")
	flags.DurationVar(&config.MaxOffline, "max-offline", config.MaxOffline, "how long a keyset is served after the KMS last opened it")
	flags.DurationVar(&config.MaxRefused, "max-refused", config.MaxRefused, "how long a keyset is served after the KMS first said no")
	flags.DurationVar(&config.TenantIdle, "tenant-idle", config.TenantIdle, "how long a tenant's keysets stay open after they were last asked for")
	flags.IntVar(&config.MaxTenants, "max-tenants", config.MaxTenants, "how many tenants' keysets are open at once")
	return c
}
