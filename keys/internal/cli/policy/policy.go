// Package policy is the commands that check, test, explain and build policies.
package policy

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy"
)

// New makes the command.
func New() *cobra.Command {
	return command.Group("policy", "Check and test policies, see who can see what, and ship them",
		newBuild(), newCheck(), newExplain(), newTest())
}

// readFlags say how policies are read.
type readFlags struct{ options policy.Options }

func (f *readFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.options.VerificationKey, "verification-key", "", "`FILE` of the public key, in PEM, of those who sign bundles (default: signatures are not looked at)")
	c.Flags().StringVar(&f.options.VerificationScope, "verification-scope", "fieldveil", "the `SCOPE` that bundles must be signed for")
}

// paths wants one PATH or more.
func paths(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return fault.Input(c.CommandPath(), "PATH is missing", "name a folder of policies or a bundle; see: "+c.CommandPath()+" --help")
	}
	return nil
}
