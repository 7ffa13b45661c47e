// Package cli is the command line of fieldveil: a folder for each command.
package cli

import (
	"io"

	"github.com/fieldveil/fieldveil/keys/internal/cli/agent"
	"github.com/fieldveil/fieldveil/keys/internal/cli/bridge"
	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/drain"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keys"
	"github.com/fieldveil/fieldveil/keys/internal/cli/modules"
	"github.com/fieldveil/fieldveil/keys/internal/cli/policy"
	"github.com/fieldveil/fieldveil/keys/internal/cli/redirect"
	"github.com/fieldveil/fieldveil/keys/internal/cli/table"
)

// Run runs the command and gives its exit status, as command.Run does.
func Run(arguments []string, stdout, stderr io.Writer) int {
	root := command.Root("Keys and policies for Fieldveil: keysets, the key agent, tables sealed in place, policies checked, TLS with servers, what a pod needs",
		version(), keys.New(), agent.New(), bridge.New(), table.New(), policy.New(), drain.New(), modules.New(), redirect.New())
	return command.Run(root, arguments, stdout, stderr)
}
