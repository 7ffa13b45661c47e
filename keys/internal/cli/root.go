// Package cli is the command line of fieldveil: one file per command.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Run runs the command and gives its exit status: 0, 1 (the machine or a peer
// failed), 2 (bad input; nothing was changed), or what a command says of its own.
func Run(arguments []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(stderr, "fieldveil: "+err.Error())
	}
	return fault.ExitStatus(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "fieldveil",
		Short: "Keys and policies for Fieldveil: keysets, the key agent, tables sealed in place, policies checked, what a pod needs",
		// One line a fault; the help is for who asks for it.
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fault.Input(c.CommandPath(), err.Error(), "see: "+c.CommandPath()+" --help")
	})
	root.AddCommand(newKeys(), newAgent(), newTable(), newPolicy(), newDrain(), newModules(), newRedirect())
	return root
}

func newKeys() *cobra.Command {
	keys := &cobra.Command{
		Use:   "keys",
		Short: "Make, show, rotate and destroy keysets",
		Args:  noSuchCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	keys.AddCommand(newKeysCreate(), newKeysList(), newKeysInspect(), newKeysVerify(), newKeysRotate(),
		newKeysDisable(), newKeysEnable(), newKeysDestroy(), newKeysRewrap(),
		newKeysCreateReceiptKeyset(), newKeysCheckReceipt(), newKeysCreateInsecureDevKEK())
	return keys
}

func noSuchCommand(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	return fault.Input(c.CommandPath(), "there is no command \""+arguments[0]+"\"", "see: "+c.CommandPath()+" --help")
}

// exactly wants one argument for each of the names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		switch {
		case len(arguments) < len(names):
			return fault.Input(c.CommandPath(), names[len(arguments)]+" is missing", "see: "+c.CommandPath()+" --help")
		case len(arguments) > len(names):
			return fault.Input(c.CommandPath(), "too many arguments: "+strings.Join(arguments[len(names):], " "),
				"see: "+c.CommandPath()+" --help")
		}
		return nil
	}
}
