package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newCreate() *cobra.Command {
	var keysets keyflag.Keysets
	var kek keyflag.KEK
	var output command.OutputFlag
	var template aeadTemplateFlag
	var purposeText string
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make the keysets of a new name, one of each purpose",
		Long: "Make the keysets of a new name, each with one new key: NAME.aead.json for randomized\n" +
			"and indexed protection, NAME.deterministic.json (AES-SIV) for deterministic protection,\n" +
			"and NAME.prf.json (HMAC-SHA-256) for the index of indexed and the keys of\n" +
			"format-preserving protection. Existing files are never replaced.\n\n" +
			"NAME/TENANT makes the keysets of one tenant, in NAME.TENANT.PURPOSE.json.\n\n" +
			"A name that was made without one of them is given it with --purpose.",
		Example: "  fieldveil keys create pii --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii\n" +
			"  fieldveil keys create pii/acme --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii",
		Args: command.Exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			name := arguments[0]
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
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
			if err := keysets.Check(); err != nil {
				return err
			}
			aead, err := kek.Open()
			if err != nil {
				return err
			}
			_, absent := os.Lstat(keysets.Folder)
			store, err := keystore.OpenOrMake(keysets.Folder)
			if err != nil {
				return err
			}
			store.Announce(func(change *keystore.Change) { printer.Plan("will make %s with the key %d", change.Path, change.Added) })
			var created []keystore.Created
			if purpose == "" {
				created, err = store.Create(name, aeadTemplate, aead)
			} else {
				created, err = store.CreateMissing(name, purpose, aeadTemplate, aead)
			}
			if err != nil {
				if errors.Is(absent, fs.ErrNotExist) {
					os.Remove(keysets.Folder) // which it does only when it is empty
				}
				return err
			}
			return printer.Done(createdOf(name, created))
		},
	}
	keysets.Add(c)
	kek.Add(c)
	template.add(c, string(keystore.DefaultAEADTemplate), "")
	c.Flags().StringVar(&purposeText, "purpose", "", "make the keyset of this `PURPOSE` alone: "+keystore.PurposeNames())
	output.Add(c)
	return c
}

type createdKeyset struct {
	Name    string           `json:"name"`
	Purpose keystore.Purpose `json:"purpose"`
	Path    string           `json:"path"`
	KeyID   uint32           `json:"key_id"`
	Type    string           `json:"type"`
}

func createdOf(name string, created []keystore.Created) (text string, document any) {
	var said strings.Builder
	var keysets []createdKeyset
	for _, file := range created {
		fmt.Fprintf(&said, "created %s (primary key %d)\n", file.Path, file.KeyID)
		keysets = append(keysets, createdKeyset{Name: name, Purpose: file.Purpose, Path: file.Path, KeyID: file.KeyID, Type: file.Type})
	}
	return said.String(), map[string][]createdKeyset{"created": keysets}
}
