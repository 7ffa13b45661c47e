package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

func newKeysCreateInsecureDevKEK() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "create-insecure-dev-kek --out FILE",
		Short: "Make a key-encryption key in clear text, for development only",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return fault.Input("--out", "not given", "name the file to make")
			}
			if err := kek.CreateInsecureDev(out); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "created %s: INSECURE, for development only; whoever reads it opens every keyset\n", out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to make; an existing one is never replaced")
	return c
}
