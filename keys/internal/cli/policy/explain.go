package policy

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy"
	"github.com/fieldveil/fieldveil/keys/internal/policy/explain"
)

// Exit statuses of a comparison, apart from those of failures.
const (
	exitNobodyGains  command.ExitStatus = 3
	exitSomebodyMay  command.ExitStatus = 4
	explainForms                        = "table, json, markdown or html"
	principalsSample                    = "rules"
)

// shown is a report or a comparison.
type shown interface {
	Text(w io.Writer) error
	JSON(w io.Writer) error
	Markdown(w io.Writer) error
	HTML(w io.Writer) error
}

type explainFlags struct {
	flags      readFlags
	principals string
	database   string
	label      string
	output     string
	at         string
	diff       bool
}

func newExplain() *cobra.Command {
	var e explainFlags
	c := &cobra.Command{
		Use:   "explain PATH… | explain --diff OLD NEW",
		Short: "Show who can see what, and which rule decided",
		Long: "Ask policies what sample principals get of each label: how they read it, whether they may write it,\n" +
			"and the rules that decided. The principals are those of a file (--principals), or else one for each\n" +
			"combination of values that a `who` of the rules names, and anybody else. Folders and bundles are\n" +
			"read as `fieldveil policy check` reads them.\n\n" +
			"With --diff: whose access changes from OLD to NEW, each a folder or a bundle, and what else they say\n" +
			"differently of rules, tokens, tenants and databases, whoever asks.\n\n" +
			"Exit status 0: shown; with --diff, nothing changes. 3: something changes, and nobody gets more.\n" +
			"4: somebody gets more, or something that is neither more nor less. 1 and 2: it could not be told.",
		Example: "  fieldveil policy explain policies --principals principals.yaml\n" +
			"  fieldveil policy explain bundle.tar.gz --output html > who-can-see-what.html\n" +
			"  fieldveil policy explain --diff released.tar.gz policies --output markdown",
		Args: e.arguments,
		RunE: e.run,
	}
	e.flags.add(c)
	c.Flags().StringVar(&e.principals, "principals", "", "`FILE` of sample principals, YAML (default: made from the rules)")
	c.Flags().StringVar(&e.database, "database", "", "`NAME` of the one database or service to show (default: all)")
	c.Flags().StringVar(&e.label, "label", "", "`PATTERN` of the labels to show, as rules have it: customer.* (default: all)")
	c.Flags().StringVar(&e.at, "at", "", "`TIME` to ask for, RFC 3339, where a principal has none of its own (default: now)")
	c.Flags().StringVar(&e.output, "output", "table", "`FORM`: "+explainForms)
	c.Flags().BoolVar(&e.diff, "diff", false, "compare two folders or bundles: OLD and NEW")
	return c
}

func (e *explainFlags) arguments(c *cobra.Command, arguments []string) error {
	if e.diff {
		return command.Exactly("OLD", "NEW")(c, arguments)
	}
	return paths(c, arguments)
}

func (e *explainFlags) run(c *cobra.Command, arguments []string) error {
	if err := e.check(); err != nil {
		return err
	}
	asOf, err := e.moment()
	if err != nil {
		return err
	}
	sides := [][]string{arguments}
	if e.diff {
		sides = [][]string{arguments[:1], arguments[1:]}
	}
	loaded := make([]explain.Policies, len(sides))
	for i, side := range sides {
		if loaded[i], err = policy.Load(side, e.flags.options); err != nil {
			return err
		}
	}
	samples, asked, err := e.samples(c.Context(), loaded, asOf)
	if err != nil {
		return err
	}
	reports := make([]*explain.Report, len(sides))
	for i, side := range sides {
		asked.Paths = side
		if reports[i], err = explain.Build(c.Context(), loaded[i], samples, asked); err != nil {
			return err
		}
	}
	if !e.diff {
		return e.report(c.OutOrStdout(), reports[0])
	}
	diff := explain.Compare(reports[0], reports[1])
	if err := diff.CompareData(c.Context(), loaded[0], loaded[1], samples, e.database, asOf); err != nil {
		return err
	}
	return e.compared(c.OutOrStdout(), diff)
}

func (e *explainFlags) check() error {
	if _, err := explain.Matcher(e.label); err != nil {
		return err
	}
	switch e.output {
	case "table", "json", "markdown", "html":
		return nil
	}
	return fault.Input("--output \""+e.output+"\"", "no such form", "use "+explainForms)
}

func (e *explainFlags) moment() (time.Time, error) {
	if e.at == "" {
		return time.Now(), nil
	}
	at, err := time.Parse(time.RFC3339, e.at)
	if err != nil {
		return at, fault.Input("--at \""+e.at+"\"", "no date and time of RFC 3339", "write it so: 2026-03-02T22:30:00+01:00")
	}
	return at, nil
}

// samples are the principals to ask for, and where they are from.
func (e *explainFlags) samples(ctx context.Context, loaded []explain.Policies, asOf time.Time) ([]explain.Sample, explain.Asked, error) {
	asked := explain.Asked{AsOf: asOf, Source: principalsSample}
	if e.principals == "" {
		samples, notes, err := explain.FromRules(ctx, loaded, e.database, asOf)
		asked.Notes = notes
		return samples, asked, e.none(samples, err)
	}
	asked.Source = e.principals
	samples, err := explain.ReadPrincipals(e.principals)
	if err != nil {
		return nil, asked, err
	}
	places, err := explain.Databases(ctx, loaded, asOf)
	if err != nil {
		return nil, asked, err
	}
	samples = explain.InDatabases(samples, places, e.database)
	return samples, asked, e.none(samples, nil)
}

func (e *explainFlags) none(samples []explain.Sample, err error) error {
	if err == nil && len(samples) == 0 {
		return fault.Input("--database \""+e.database+"\"", "no principal asks for it, and no catalog speaks of it", "name one of the catalogs")
	}
	return err
}

func (e *explainFlags) report(w io.Writer, report *explain.Report) error {
	if err := report.Only(e.label); err != nil {
		return err
	}
	if len(report.Labels) == 0 {
		return fault.Input(strings.Join(report.Policies, ", "), "no label fits what is asked for", "see --database and --label")
	}
	return e.show(w, report)
}

func (e *explainFlags) compared(w io.Writer, diff *explain.Diff) error {
	if err := diff.Only(e.label); err != nil {
		return err
	}
	if err := e.show(w, diff); err != nil {
		return err
	}
	switch {
	case diff.Empty():
		return nil
	case diff.Widens():
		return exitSomebodyMay
	}
	return exitNobodyGains
}

func (e *explainFlags) show(w io.Writer, what shown) error {
	switch e.output {
	case "json":
		return what.JSON(w)
	case "markdown":
		return what.Markdown(w)
	case "html":
		return what.HTML(w)
	}
	return what.Text(w)
}
