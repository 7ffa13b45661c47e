package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// outputFlag is the form in which a command tells what it does.
type outputFlag struct{ form string }

func (f *outputFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.form, "output", "text", "`FORM`: text or json")
}

func (f *outputFlag) teller(c *cobra.Command) (*teller, error) {
	t := &teller{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: f.form == "json"}
	if !t.json && f.form != "text" {
		return nil, fault.Input("--output \""+f.form+"\"", "no such form", "use text or json")
	}
	return t, nil
}

// teller tells what will be done and what was done. In the JSON form standard
// output holds the one document of what was done, and all else goes beside it.
type teller struct {
	out, err io.Writer
	json     bool
}

// will tells what is about to be done: everything is checked, nothing is written.
func (t *teller) will(format string, words ...any) {
	to := t.out
	if t.json {
		to = t.err
	}
	fmt.Fprintf(to, format+"\n", words...)
}

// did tells what was done, as text of whole lines or as a document. Where that
// can't be written, the error tells it.
func (t *teller) did(text string, document any) error {
	if err := t.show(text, document); err != nil {
		return fault.Failure("standard output", "it can not be written to ("+fault.Cause(err)+")",
			"this is done all the same: "+strings.ReplaceAll(strings.TrimSpace(text), "\n", ", "))
	}
	return nil
}

// show tells what is there and was not changed.
func (t *teller) show(text string, document any) error {
	if !t.json {
		_, err := io.WriteString(t.out, text)
		return err
	}
	encoder := json.NewEncoder(t.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

func (t *teller) warnIgnored(file string) {
	t.warn(file, "ignored, its name is not NAME.PURPOSE.json", "rename it or move it away")
}

// warn tells what needs attention and stops nothing.
func (t *teller) warn(place, reason, remedy string) {
	fmt.Fprintln(t.err, "fieldveil: "+fault.Input(place, reason, remedy).Error())
}
