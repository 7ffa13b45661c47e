package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// OutputFlag is the form in which a command prints what it does.
type OutputFlag struct {
	form string
	// Text is what the command calls its text form, where that is not "text".
	Text string
}

// Add adds the flag.
func (f *OutputFlag) Add(c *cobra.Command) {
	f.Text = cmp.Or(f.Text, "text")
	c.Flags().StringVar(&f.form, "output", f.Text, "`FORM`: "+f.Text+" or json")
}

// Printer prints in the form that was asked for.
func (f *OutputFlag) Printer(c *cobra.Command) (*Printer, error) {
	if f.form != f.Text && f.form != "json" {
		return nil, NoSuchForm(f.form, f.Text+" or json")
	}
	return &Printer{stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(), json: f.form == "json"}, nil
}

// NoSuchForm refuses the value of --output.
func NoSuchForm(form, known string) error {
	return fault.Input("--output \""+form+"\"", "no such form", "use "+known)
}

// Printer prints what will be done and what was done. In the JSON form standard
// output holds the one document of what was done, and all else goes to standard error.
type Printer struct {
	stdout, stderr io.Writer
	json           bool
}

// Plan prints what is about to be done: everything is checked, nothing is written.
func (p *Printer) Plan(format string, words ...any) {
	to := p.stdout
	if p.json {
		to = p.stderr
	}
	fmt.Fprintf(to, format+"\n", words...)
}

// Done prints what was done, as text of whole lines or as a document. Where that
// can't be written, the error says what was done.
func (p *Printer) Done(text string, document any) error {
	if err := p.Show(text, document); err != nil {
		return fault.Failure("standard output", "it can not be written to ("+fault.Cause(err)+")",
			"this is done all the same: "+strings.ReplaceAll(strings.TrimSpace(text), "\n", ", "))
	}
	return nil
}

// Show prints what is there and was not changed.
func (p *Printer) Show(text string, document any) error {
	if p.json {
		return WriteJSON(p.stdout, document)
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

// Warn prints what needs attention and stops nothing.
func (p *Printer) Warn(place, reason, remedy string) { p.Error(fault.Input(place, reason, remedy)) }

// Error prints an error that the command does not end with.
func (p *Printer) Error(err error) { printError(p.stderr, err) }

// WriteJSON writes a document as every command does.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// Plural is a count with its noun.
func Plural(count int64, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", count, many)
}
