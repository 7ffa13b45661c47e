// Package drain is the command that drains the Envoy beside it.
package drain

import (
	"context"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

const (
	drainTimeout = 5 * time.Second
	// With it answers tell clients to connect anew, and listeners stay open.
	drainPath = "/healthcheck/fail"
)

// New makes the command.
func New() *cobra.Command {
	var admin string
	c := &cobra.Command{
		Use:   "drain",
		Short: "Tell the Envoy beside it that its clients should go elsewhere",
		Long: "Ask Envoy, over its admin interface, to drain: each answer over HTTP then tells its client to\n" +
			"connect anew, and /ready says no. What is open stays open, and new connections are served,\n" +
			"the application's own to its database too. For the hook before a pod stops.",
		Example: "  fieldveil drain --admin /run/fieldveil/admin/admin.sock",
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if admin == "" {
				return fault.Input("--admin", "not given", "name the Unix socket of Envoy's admin interface")
			}
			return drain(c.Context(), admin)
		},
	}
	c.Flags().StringVar(&admin, "admin", "", "`PATH` of the Unix socket of Envoy's admin interface")
	return c
}

func drain(ctx context.Context, admin string) error {
	client := &http.Client{
		Timeout: drainTimeout,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", admin)
		}},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://envoy"+drainPath, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	// The socket of an Envoy that has ended, as the pod of a Job's has: it has no clients.
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err != nil {
		return fault.Failure(admin, "Envoy does not answer ("+err.Error()+")", "see whether it runs, and whether the socket is its admin interface's")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fault.Failure(admin, "Envoy answered "+response.Status, "see whether the socket is its admin interface's")
	}
	return nil
}
