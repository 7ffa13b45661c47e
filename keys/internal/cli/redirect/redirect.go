// Package redirect is the command that leads a pod's connections to the sidecar.
package redirect

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/pod/redirect"
)

// New makes the command.
func New() *cobra.Command {
	var rules redirect.Rules
	var ports []string
	var uids []uint
	var check bool
	c := &cobra.Command{
		Use:   "redirect --to PORT:LISTENER_PORT --except-uid UID",
		Short: "Lead a pod's connections to servers to the sidecar's listeners",
		Long: "Lead every TCP connection that begins in this network namespace and goes to PORT, of whatever\n" +
			"address, to LISTENER_PORT of this machine: 127.0.0.1, and ::1 for IPv6, where it is refused if nobody\n" +
			"listens. Connections of the excepted users, and those within the namespace, go where they are meant to.\n" +
			"The rules are a table of nf_tables of their own, inet " + redirect.Table + ", which is replaced as a whole,\n" +
			"and read back. It needs CAP_NET_ADMIN.",
		Example: "  fieldveil redirect --to 5432:15432 --except-uid 10101",
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			for _, text := range ports {
				port, err := redirect.ParsePort(text)
				if err != nil {
					return err
				}
				rules.Ports = append(rules.Ports, port)
			}
			if rules.ExceptUIDs, err = command.ParseUIDs("--except-uid", uids); err != nil {
				return err
			}
			act := rules.Apply
			if check {
				act = rules.Verify
			}
			if err := act(); err != nil {
				return err
			}
			for _, port := range rules.Ports {
				fmt.Fprintf(c.OutOrStdout(), "TCP to port %d goes to local port %d\n", port.From, port.To)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&ports, "to", nil, "`PORT:LISTENER_PORT`; may be repeated")
	flags.UintSliceVar(&uids, "except-uid", nil, "`UID` of a user whose connections are left alone: the sidecar's; may be repeated")
	flags.Lookup("except-uid").DefValue = ""
	flags.BoolVar(&rules.Loopback, "include-loopback", false,
		"lead connections within the network namespace to the listeners as well: where a proxy for the\nserver listens in the same pod")
	flags.BoolVar(&check, "check", false, "change nothing; exit status 1 unless just these rules are there")
	return c
}
