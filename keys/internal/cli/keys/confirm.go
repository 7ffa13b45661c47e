package keys

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// yesFlag spares the question before what can not be undone.
type yesFlag struct{ given bool }

func (f *yesFlag) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.given, "yes", false, "do not ask; needed where there is no terminal to ask at")
}

// confirm asks a person to write a word. Where nobody can be asked, it is not done.
func (f *yesFlag) confirm(c *cobra.Command, word string) error {
	if f.given {
		return nil
	}
	from, ok := c.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(from.Fd())) {
		return fault.Input("--yes", "this can not be undone, and there is no terminal to ask at", "give --yes if it is meant")
	}
	fmt.Fprintf(c.ErrOrStderr(), "This can not be undone. Write %s to go on: ", word)
	// A terminal gives a line at a time; more than this is no answer.
	answer, err := bufio.NewReader(io.LimitReader(from, 1024)).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != word {
		return fault.Input(word, "not confirmed, so nothing was changed", "write it as it stands there")
	}
	return nil
}
