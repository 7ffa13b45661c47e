package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newKeysCreate() *cobra.Command {
	var keysets keysetsFlag
	var kek kekFlags
	var template aeadTemplateFlag
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make the keysets of a new name, one of each purpose",
		Long: "Make the keysets of a new name, each with one new key: NAME.aead.json for randomized\n" +
			"and NAME.deterministic.json (AES-SIV) for deterministic protection. Existing files are\n" +
			"never replaced.",
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			name := arguments[0]
			aeadTemplate, err := template.parse()
			if err != nil {
				return err
			}
			if err := keystore.CheckName(name); err != nil {
				return err
			}
			if err := keysets.check(); err != nil {
				return err
			}
			aead, err := kek.open()
			if err != nil {
				return err
			}
			store, err := keystore.OpenOrMake(keysets.folder)
			if err != nil {
				return err
			}
			created, err := store.Create(name, aeadTemplate, aead)
			if err != nil {
				return err
			}
			for _, file := range created {
				fmt.Fprintf(c.OutOrStdout(), "created %s (primary key %d)\n", file.Path, file.KeyID)
			}
			return nil
		},
	}
	keysets.add(c)
	kek.add(c)
	template.add(c, string(keystore.DefaultAEADTemplate), "")
	return c
}
