package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy"
)

func newCheck() *cobra.Command {
	var flags readFlags
	var output command.OutputFlag
	c := &cobra.Command{
		Use:   "check PATH…",
		Short: "Say what is wrong with catalogs and rules, and where",
		Long: "Read folders and bundles (.tar.gz) of policies together, as OPA does, and say all that keeps them\n" +
			"from giving a plan: FILE:LINE:COLUMN: PATH: what is wrong; what to do. Warnings tell what is odd\n" +
			"and stops nothing. Where no PATH holds the library, the one of this program is taken, so that a\n" +
			"folder with catalog/NAME/data.yaml and rules/NAME/data.yaml is enough. Tests (*_test.rego) are\n" +
			"left out. Nothing is asked over the network.\n\n" +
			"Exit status 0: sound. 2: there are problems, or what was named is not there.",
		Example: "  fieldveil policy check my-policies\n" +
			"  fieldveil policy check policies --output json\n" +
			"  fieldveil policy check bundle.tar.gz --verification-key bundle.public.pem",
		Args: paths,
		RunE: func(c *cobra.Command, arguments []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			report, err := policy.Check(c.Context(), arguments, flags.options, time.Now())
			if err != nil {
				return err
			}
			if err := printer.Show(checkText(arguments, report), report); err != nil {
				return err
			}
			if found := len(report.Problems); found > 0 {
				return fault.Input(strings.Join(arguments, ", "), command.Plural(int64(found), "problem", "problems"), "mend what is named; until then nobody gets a plan")
			}
			return nil
		},
	}
	flags.add(c)
	output.Add(c)
	return c
}

func checkText(paths []string, report *policy.Report) string {
	var text strings.Builder
	for _, problem := range report.Problems {
		fmt.Fprintln(&text, problem.Fault().Error())
	}
	for _, warning := range report.Warnings {
		fmt.Fprintln(&text, warning.Warning().Error())
	}
	if n := report.Counts; n != nil {
		fmt.Fprintf(&text, "%s: sound: %s, %s, %s, %s, %s\n", fault.OneLine(strings.Join(paths, ", ")), command.Plural(n.Catalogs, "catalog", "catalogs"),
			command.Plural(n.Labels, "label", "labels"), command.Plural(n.Columns, "column", "columns"),
			command.Plural(n.Services, "service", "services"), command.Plural(n.Rules, "rule", "rules"))
	}
	return text.String()
}
