// Package commandtest runs a command for its tests, as the program runs it.
package commandtest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// Runner runs the program, and gives its exit status and what it wrote.
type Runner func(t *testing.T, arguments ...string) (status int, output, errors string)

// Of runs the program with this command alone.
func Of(newCommand func() *cobra.Command) Runner {
	return OfProgram(func(arguments []string, stdout, stderr io.Writer) int {
		return command.Run(command.Root("", "", newCommand()), arguments, stdout, stderr)
	})
}

// OfProgram runs a whole program.
func OfProgram(program func(arguments []string, stdout, stderr io.Writer) int) Runner {
	return func(t *testing.T, arguments ...string) (int, string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		status := program(arguments, &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
}

// WantBadInput runs what has to end with status 2, print nothing and write one line of an error with this reason and a remedy.
// Lines of the agent's log may stand beside it.
func (r Runner) WantBadInput(t *testing.T, reason string, arguments ...string) {
	t.Helper()
	status, output, errors := r(t, arguments...)
	lines := []string{}
	for line := range strings.Lines(errors) {
		if strings.HasPrefix(line, "fieldveil: ") {
			lines = append(lines, line)
		} else if !strings.HasPrefix(line, `{"time":`) {
			t.Errorf("%q: a line that is neither the error nor the log: %s", arguments, line)
		}
	}
	if status != 2 || output != "" || len(lines) != 1 || !strings.Contains(lines[0], "; ") || !strings.Contains(lines[0], reason) {
		t.Errorf("%q: status %d, without %q\n%s%s", arguments, status, reason, output, errors)
	}
}

// Content is all files of a folder with their names.
func Content(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		all.WriteString(path + "\n")
		if err == nil && !entry.IsDir() {
			text, readError := os.ReadFile(path)
			all.Write(text)
			return readError
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
