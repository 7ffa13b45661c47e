package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newKeysRotate() *cobra.Command {
	var keysets keysetsFlag
	var kek kekFlags
	var template aeadTemplateFlag
	var purposeText, promote string
	var addOnly bool
	c := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Add a key to a keyset and promote it; earlier keys still open what they sealed",
		Long: "Add a new key to a keyset and make it the primary, the one that seals. Earlier keys stay and\n" +
			"still open what they sealed.\n\n" +
			"With several sidecars, do it in two steps, so that none meets a value of a key that it does\n" +
			"not have yet: --add-only first, and --promote KEY_ID when all of them have polled.\n\n" +
			"The AEAD keyset is rotated unless --purpose says otherwise. After the primary of a\n" +
			"deterministic keyset has changed, an equality search no longer finds what was sealed before,\n" +
			"until that is sealed anew.",
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			name := arguments[0]
			if err := keystore.CheckName(name); err != nil {
				return err
			}
			if err := keysets.check(); err != nil {
				return err
			}
			purpose, purposeGiven := keystore.AEAD, c.Flags().Changed("purpose")
			if purposeGiven {
				var known bool
				if purpose, known = keystore.ParsePurpose(purposeText); !known {
					return fault.Input("--purpose \""+purposeText+"\"", "no such purpose", "use aead or deterministic")
				}
			}
			var aeadTemplate keystore.AEADTemplate
			if c.Flags().Changed("aead-template") {
				if purpose != keystore.AEAD {
					return fault.Input("--aead-template", "a deterministic key is always AES-SIV", "leave it out")
				}
				var err error
				if aeadTemplate, err = template.parse(); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("promote") {
				return addKey(c.OutOrStdout(), c.ErrOrStderr(), &keysets, &kek, name, purpose, aeadTemplate, !addOnly)
			}
			if addOnly || aeadTemplate != "" {
				return fault.Input("--promote", "it adds no key, so it goes with neither --add-only nor --aead-template",
					"add first, and promote later")
			}
			keyID, err := strconv.ParseUint(promote, 10, 32)
			if err != nil {
				return fault.Input("--promote \""+promote+"\"", "not a key id", "see key ids with: fieldveil keys list")
			}
			return promoteKey(c.OutOrStdout(), c.ErrOrStderr(), &keysets, &kek, name, purpose, purposeGiven, uint32(keyID))
		},
	}
	keysets.add(c)
	kek.add(c)
	template.add(c, "", " (as the present primary's if left out)")
	c.Flags().StringVar(&purposeText, "purpose", string(keystore.AEAD), "`PURPOSE` of the keyset: aead or deterministic")
	c.Flags().BoolVar(&addOnly, "add-only", false, "add a key and leave the primary as it is")
	c.Flags().StringVar(&promote, "promote", "", "make the key `KEY_ID` the primary and add none")
	return c
}

func addKey(
	stdout, stderr io.Writer, keysets *keysetsFlag, kek *kekFlags,
	name string, purpose keystore.Purpose, template keystore.AEADTemplate, promote bool,
) error {
	aead, err := kek.open()
	if err != nil {
		return err
	}
	store, err := keystore.Open(keysets.folder)
	if err != nil {
		return err
	}
	rotated, err := store.AddKey(name, purpose, template, promote, aead)
	if err != nil {
		return err
	}
	if !promote {
		fmt.Fprintf(stdout, "%s: added key %d; the primary is still %d (promote with: fieldveil keys rotate %s --promote %d)\n",
			rotated.Path, rotated.Added, rotated.Primary, name, rotated.Added)
		return nil
	}
	fmt.Fprintf(stdout, "%s: added key %d and promoted it; the primary was %d\n", rotated.Path, rotated.Added, rotated.PreviousPrimary)
	warnOfSearches(stderr, rotated)
	return nil
}

func promoteKey(
	stdout, stderr io.Writer, keysets *keysetsFlag, kek *kekFlags,
	name string, purpose keystore.Purpose, purposeGiven bool, keyID uint32,
) error {
	aead, err := kek.open()
	if err != nil {
		return err
	}
	store, err := keystore.Open(keysets.folder)
	if err != nil {
		return err
	}
	if !purposeGiven {
		if purpose, err = store.PurposeOfKey(name, keyID); err != nil {
			return err
		}
	}
	rotated, err := store.Promote(name, purpose, keyID, aead)
	if err != nil {
		return err
	}
	if rotated.Primary == rotated.PreviousPrimary {
		fmt.Fprintf(stdout, "%s: key %d is the primary already; nothing changed\n", rotated.Path, keyID)
		return nil
	}
	fmt.Fprintf(stdout, "%s: promoted key %d; the primary was %d\n", rotated.Path, rotated.Primary, rotated.PreviousPrimary)
	warnOfSearches(stderr, rotated)
	return nil
}

func warnOfSearches(stderr io.Writer, rotated *keystore.Rotated) {
	if rotated.Purpose == keystore.Deterministic {
		fmt.Fprintf(stderr, "fieldveil: %s: equality searches no longer find values sealed with key %d; seal those anew, or promote it again\n",
			rotated.Path, rotated.PreviousPrimary)
	}
}
