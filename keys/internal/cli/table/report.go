package table

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

func (f *jobFlags) form() (func(io.Writer, *table.Report) error, error) {
	switch f.output {
	case "text":
		return showReport, nil
	case "json":
		return func(w io.Writer, report *table.Report) error { return command.WriteJSON(w, report) }, nil
	}
	return nil, command.NoSuchForm(f.output, "text or json")
}

func showReport(w io.Writer, report *table.Report) error {
	written := command.Plural(report.Written, "row", "rows") + " written"
	if report.DryRun {
		written = "a dry run: nothing written"
	}
	fmt.Fprintf(w, "%s %s: %s read, %s, in %.1f s\n", report.Command, report.Table, command.Plural(report.Rows, "row", "rows"), written, report.Seconds)
	for _, column := range report.Columns {
		var found []string
		for state, count := range column.Found {
			found = append(found, fmt.Sprintf("%d %s", count, state))
		}
		slices.Sort(found)
		wanted := ""
		if column.KeyID != 0 {
			wanted = fmt.Sprintf(", wanted key %d", column.KeyID)
		}
		fmt.Fprintf(w, "  %s (%s%s): found %s\n", column.Column, column.Label, wanted, strings.Join(found, ", "))
	}
	for _, problem := range report.Problems {
		fmt.Fprintf(w, "  row %s, %s: %s\n", problem.Key, strings.Join(problem.Columns, ", "), problem.Reason)
	}
	return nil
}

// progress is in one line where a person looks on, else in lines that a log bears.
func progress(w io.Writer, every time.Duration) *table.Progress {
	file, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd()))
	if every == 0 {
		every = 10 * time.Second
		if terminal {
			every = time.Second
		}
	}
	return &table.Progress{Out: w, Terminal: terminal, Every: every}
}
