package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newKeysCreate() *cobra.Command {
	var keysets keysetsFlag
	var kek kekFlag
	var template aeadTemplateFlag
	var purposeText string
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make the keysets of a new name, one of each purpose",
		Long: "Make the keysets of a new name, each with one new key: NAME.aead.json for randomized\n" +
			"and indexed protection, NAME.deterministic.json (AES-SIV) for deterministic protection,\n" +
			"and NAME.prf.json (HMAC-SHA-256) for the index of indexed and the keys of\n" +
			"format-preserving protection. Existing files are never replaced.\n\n" +
			"A name that was made without one of them is given it with --purpose.",
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			name := arguments[0]
			aeadTemplate, err := template.parse()
			if err != nil {
				return err
			}
			var purpose keystore.Purpose
			if c.Flags().Changed("purpose") {
				if purpose, err = parsePurpose(purposeText); err != nil {
					return err
				}
				if purpose != keystore.AEAD && c.Flags().Changed("aead-template") {
					return errTemplateWithoutAEAD()
				}
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
			var created []keystore.Created
			if purpose == "" {
				created, err = store.Create(name, aeadTemplate, aead)
			} else {
				created, err = store.CreateMissing(name, purpose, aeadTemplate, aead)
			}
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
	c.Flags().StringVar(&purposeText, "purpose", "", "make the keyset of this `PURPOSE` alone: "+keystore.PurposeNames())
	return c
}
