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

func newTest() *cobra.Command {
	var flags readFlags
	var output command.OutputFlag
	var pattern string
	var verbose bool
	c := &cobra.Command{
		Use:   "test PATH…",
		Short: "Run the tests of one's own policies",
		Long: "Read folders and bundles (.tar.gz) of policies together, as `fieldveil policy check` does, with the\n" +
			"tests of the folders: rules whose names begin with test_, in any *_test.rego. Where no PATH holds\n" +
			"the library, the one of this program is taken. The library's own tests do not run. What fails is\n" +
			"said with file and line: who got what, and by which rule, in the words of data.fieldveil.testing.\n\n" +
			"Exit status 0: there are tests, and all passed. 2: one failed, there is none, or the policies have\n" +
			"problems: then no test runs. Nothing is asked over the network.",
		Example: "  fieldveil policy test my-policies\n" +
			"  fieldveil policy test my-policies --run 'support' -v",
		Args: paths,
		RunE: func(c *cobra.Command, arguments []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			report, err := policy.Test(c.Context(), arguments, flags.options, pattern, time.Now())
			if err != nil {
				return err
			}
			if err := printer.Show(testText(arguments, report, verbose), report); err != nil {
				return err
			}
			place := strings.Join(arguments, ", ")
			if found := len(report.Problems); found > 0 {
				return fault.Input(place, command.Plural(int64(found), "problem", "problems"), "mend what is named; until then no test runs")
			}
			for _, file := range report.Empty {
				printer.Warn(file, "no test in it", "begin the names of its tests with test_")
			}
			all := int64(len(report.Tests))
			switch failed := report.Count(policy.Failed); {
			case failed > 0:
				return fault.Input(place, fmt.Sprintf("%d of %s failed", failed, command.Plural(all, "test", "tests")), "correct the rule, or the test where that is wrong")
			case report.Count(policy.Passed) == 0:
				return fault.Input(place, "every test is skipped", "take todo_ away from the name of one")
			}
			return nil
		},
	}
	c.Flags().StringVar(&pattern, "run", "", "run only tests whose name, such as data.my_test.test_x, matches this `PATTERN`, a regular expression")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "name the tests that pass, too")
	flags.add(c)
	output.Add(c)
	return c
}

func testText(paths []string, report *policy.TestReport, verbose bool) string {
	var text strings.Builder
	for _, problem := range report.Problems {
		fmt.Fprintln(&text, problem.Fault().Error())
	}
	for _, test := range report.Tests {
		if test.Outcome != policy.Passed || verbose {
			fmt.Fprintf(&text, "%s: %s: %s\n", strings.ToUpper(test.Outcome), test.Position, test.Name)
		}
		for _, line := range test.Said {
			fmt.Fprintln(&text, "  "+fault.OneLine(line))
		}
	}
	if len(report.Tests) > 0 {
		fmt.Fprintf(&text, "%s: %s passed", fault.OneLine(strings.Join(paths, ", ")), command.Plural(report.Count(policy.Passed), "test", "tests"))
		if failed := report.Count(policy.Failed); failed > 0 {
			fmt.Fprintf(&text, ", %d failed", failed)
		}
		if skipped := report.Count(policy.Skipped); skipped > 0 {
			fmt.Fprintf(&text, ", %d skipped", skipped)
		}
		fmt.Fprintln(&text)
	}
	return text.String()
}
