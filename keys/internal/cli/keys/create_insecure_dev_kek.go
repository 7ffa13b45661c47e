package keys

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

func newCreateInsecureDevKEK() *cobra.Command {
	var out string
	var output command.OutputFlag
	c := &cobra.Command{
		Use:   "create-insecure-dev-kek --out FILE",
		Short: "Make a key-encryption key in clear text, for development only",
		Long: "Make a key-encryption key in clear text in a file. Whoever reads that file opens every keyset\n" +
			"that it wraps: it is for development and tests, where there is no KMS.",
		Example: "  fieldveil keys create-insecure-dev-kek --out dev-kek.json",
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			if out == "" {
				return fault.Input("--out", "not given", "name the file to make")
			}
			if err := kek.CreateInsecureDev(out); err != nil {
				return err
			}
			return printer.Done(fmt.Sprintf("created %s: INSECURE, for development only; whoever reads it opens every keyset\n", out),
				map[string]string{"created": out, "kek_uri": kek.InsecureDevURI(out)})
		},
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to make; an existing one is never replaced")
	output.Add(c)
	return c
}
