package bridge

import (
	"context"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/bridge"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// untilStopped runs a bridge until SIGTERM or SIGINT, with its log on stderr.
func untilStopped(c *cobra.Command, run func(context.Context, *slog.Logger) error) error {
	// Files are read anew by themselves: who asks for it as of other services should not end the sessions.
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return run(ctx, slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil)))
}

// addSettings adds the flags that mean the same in both directions.
func addSettings(c *cobra.Command, settings *bridge.Settings) {
	flags := c.Flags()
	flags.StringVar(&settings.MetricsAddress, "metrics-address", "", "`HOST:PORT` for /livez and /metrics over TCP")
	flags.DurationVar(&settings.FirstPacketTimeout, "first-packet-timeout", settings.FirstPacketTimeout, "how long a client may take for the packet that it begins with; in MySQL for all of its login")
	flags.DurationVar(&settings.DrainTimeout, "drain-timeout", settings.DrainTimeout, "how long open connections may go on after SIGTERM")
	flags.IntVar(&settings.MaxConnections, "max-connections", settings.MaxConnections, "how many connections are open at once")
}

// uidFlag is --allow-uid.
type uidFlag []uint

func (f *uidFlag) add(c *cobra.Command, whose string) {
	c.Flags().UintSliceVar((*[]uint)(f), "allow-uid", nil, "`UID` of a user who may connect to the Unix socket, "+whose+"; may be repeated (default: the bridge's own)")
	c.Flags().Lookup("allow-uid").DefValue = "" // or the help shows an empty list
}

func (f *uidFlag) parse() ([]uint32, error) { return command.ParseUIDs("--allow-uid", *f) }
