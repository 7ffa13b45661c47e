// Package modules is the command that hands over the filters of an image.
package modules

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/pod/modules"
)

// New makes the command.
func New() *cobra.Command {
	return command.Group("modules", "Hand over the filters of this image", newCopy())
}

func newCopy() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "copy DIR",
		Short: "Copy the WebAssembly modules to where Envoy reads them",
		Long: "Copy the WebAssembly modules of this image, and their list " + modules.List + ", into a folder that is\n" +
			"there: for clusters that can not mount an image as a volume. Each is held to its SHA-256 in the list,\n" +
			"and each file is whole or not there; the list comes last. What is there as it should be stays\n" +
			"untouched, so that it can be run again.",
		Example: "  fieldveil modules copy /var/lib/fieldveil/modules",
		Args:    command.Exactly("DIR"),
		RunE: func(c *cobra.Command, arguments []string) error {
			copied, err := modules.Copy(from, arguments[0])
			if err != nil {
				return err
			}
			for _, module := range copied {
				fmt.Fprintf(c.OutOrStdout(), "%s  %s\n", module.Sum, module.Name)
			}
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "/modules", "`DIR` with the modules and their list")
	return c
}
