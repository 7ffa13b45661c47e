// Package command holds what all commands of fieldveil share: how they run and end, the arguments that they take, and the
// form in which they print. It knows no command.
package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Root is the program with its commands.
func Root(short, version string, commands ...*cobra.Command) *cobra.Command {
	root := Group("fieldveil", short, commands...)
	root.Version = version
	// One line a fault; the help is for who asks for it.
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return fault.Input(c.CommandPath(), err.Error(), seeHelp(c)) })
	return root
}

// Group is a command that does nothing but show its subcommands.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noSuchCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	group.AddCommand(commands...)
	return group
}

// Run runs the program and gives its exit status: 0, 1 (the machine or a peer
// failed), 2 (bad input; nothing was changed), or an ExitStatus that a command returned.
func Run(root *cobra.Command, arguments []string, stdout, stderr io.Writer) int {
	root.SetArgs(arguments)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var status ExitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	if err != nil {
		printError(stderr, err)
	}
	return fault.ExitStatus(err)
}

// ExitStatus is an error that ends the program with this status and prints nothing: the command printed what it means.
type ExitStatus int

func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func printError(stderr io.Writer, err error) { fmt.Fprintln(stderr, "fieldveil: "+err.Error()) }
