// Package commandtest runs a command for its tests, as the program runs it.
package commandtest

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// Runner runs the program, and gives its exit status and what it wrote.
type Runner func(t *testing.T, arguments ...string) (status int, output, errors string)

// Of runs the program with this command alone.
func Of(newCommand func() *cobra.Command) Runner {
	return func(t *testing.T, arguments ...string) (int, string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		status := command.Run(command.Root("", "", newCommand()), arguments, &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
}
