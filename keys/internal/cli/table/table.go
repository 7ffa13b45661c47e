// Package table is the commands that seal tables in place, unseal, reseal and verify them, and divide them into ranges.
package table

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

// New makes the command.
func New() *cobra.Command {
	return command.Group("table", "Seal whole tables in place, unseal them, seal them anew, and verify them",
		newSeal(), newUnseal(), newReseal(), newVerify(), newRanges())
}

const inPlace = "It walks the table in the order of its primary key, in batches, while applications go on: a\n" +
	"row is written only if it is still as it was read, and rows that others hold are waited for.\n" +
	"It can be ended at any point and run again. --dry-run has every value checked and writes none."

func newSeal() *cobra.Command {
	return newJobCommand(table.Seal, "Seal the plaintext values of a table",
		"Replace the plaintext values of a table's protected columns by envelopes: values are read\n"+
			"straight from the server and written through the sidecar. What is sealed already stays.\n\n"+inPlace)
}

func newUnseal() *cobra.Command {
	return newJobCommand(table.Unseal, "Turn the sealed values of a table back into plaintext",
		"Replace the envelopes of a table's protected columns by their values: they are read through\n"+
			"the sidecar and written straight to the server.\n\n"+inPlace)
}

func newReseal() *cobra.Command {
	return newJobCommand(table.Reseal, "Seal a table's values under the primary key of their keyset",
		"Seal anew, under the wanted key, what another key of the keyset has sealed: values are read\n"+
			"and written through the sidecar. The wanted keys are the primary keys of --keysets, or --key-id.\n\n"+inPlace)
}

func newVerify() *cobra.Command {
	return newJobCommand(table.Verify, "Verify that a table is sealed, under which label and which key",
		"Read the envelopes of a table straight from the server, and see that each is whole, of the\n"+
			"column's label, and sealed under the wanted key. No key is needed for that. Exit status 1 if one\n"+
			"value or more is not so; the first 20 rows are named by primary key.")
}

func newJobCommand(verb table.Command, short, long string) *cobra.Command {
	f := jobFlags{command: verb}
	c := &cobra.Command{
		Use:     string(verb) + " --table SCHEMA.TABLE",
		Short:   short,
		Long:    long,
		Example: example(verb),
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			show, err := f.form()
			if err != nil {
				return err
			}
			job, err := f.job(c)
			if err != nil {
				return err
			}
			defer job.Server.Reset()
			if job.Checkpoint != nil {
				defer job.Checkpoint.Close()
			}
			stop, ended := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer ended()
			// A second signal ends the process at once.
			context.AfterFunc(stop, ended)
			report, err := job.Run(stop)
			if report != nil {
				if shown := show(c.OutOrStdout(), report); err == nil {
					err = shown
				}
			}
			if err == nil && report.Faulty > 0 {
				return notAsItShouldBe(report)
			}
			return err
		},
	}
	f.add(c)
	return c
}

func example(verb table.Command) string {
	keysets, places := " --keysets keysets", "    --direct 'postgres://owner@db:5432/shop'"
	if verb == table.Unseal {
		keysets = ""
	}
	if verb != table.Verify {
		places += " --through 'postgres://app@127.0.0.1:15432/shop' \\\n    --checkpoint customer.checkpoint"
	}
	return "  fieldveil table " + string(verb) + " --table public.customer --catalog policies/catalog" + keysets + " \\\n" + places
}

func notAsItShouldBe(report *table.Report) error {
	remedies := map[table.Command]string{
		table.Seal:   "mend these rows and run the same command again, with another checkpoint if any",
		table.Unseal: "mend these rows and run the same command again, with another checkpoint if any",
		table.Reseal: "seal what is plaintext with: fieldveil table seal; mend what is broken",
		table.Verify: "see the rows that are named, and what was found in each column",
	}
	return fault.Failure("table "+report.Table, command.Plural(report.Faulty, "value is", "values are")+" not as they should be", remedies[report.Command])
}
