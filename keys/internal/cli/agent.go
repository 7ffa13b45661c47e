package cli

import (
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/agent"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func newAgent() *cobra.Command {
	var keysets keysetsFlag
	var kek kekFlag
	var config agent.Config
	c := &cobra.Command{
		Use:   "agent",
		Short: "Open keysets and serve them to Envoy over a Unix socket",
		Long: "Open the keysets of a folder and serve them, in clear, to the Envoy beside it over a Unix\n" +
			"socket of mode 0600: GET /v1/keysets and GET /healthz. Keysets are opened again on a timer;\n" +
			"one that no longer opens is still served for --max-stale and then no more. SIGTERM and\n" +
			"SIGINT stop the agent and remove the socket.",
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := keysets.check(); err != nil {
				return err
			}
			if config.Socket == "" {
				return fault.Input("--socket", "not given", "name the Unix socket to serve on")
			}
			keyURI, err := kek.keyURI()
			if err != nil {
				return err
			}
			config.Keysets, config.KeyURI = keysets.folder, keyURI
			logger := slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			if kek.insecure() {
				logger.Warn("INSECURE: the key-encryption key is a file in clear text; for development only")
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return agent.Run(ctx, config, logger)
		},
	}
	keysets.add(c)
	kek.add(c)
	c.Flags().StringVar(&config.Socket, "socket", "", "`PATH` of the Unix socket; a stale one is replaced, a live one is not")
	c.Flags().DurationVar(&config.Refresh, "refresh", 30*time.Second, "time between two openings, give or take a tenth")
	c.Flags().DurationVar(&config.MaxStale, "max-stale", 10*time.Minute, "how long a keyset that no longer opens is still served")
	return c
}
