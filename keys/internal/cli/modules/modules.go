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
		Short: "Copy the filters' modules to where Envoy reads them",
		Long: "Copy the modules of this image, WebAssembly and native, and their list " + modules.List + ", into a folder\n" +
			"that is there: for clusters that can not mount an image as a volume, or not so that code in it can be\n" +
			"loaded. Each is held to its SHA-256 in the list, and each file is whole or not there; the list comes\n" +
			"last. What is there as it should be stays untouched, so that it can be run again.",
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
