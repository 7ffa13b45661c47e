package keys

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// keyFlag names one key of a name's keysets.
type keyFlag struct{ idText, purposeText string }

func (f *keyFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.idText, "key-id", "", "`KEY_ID` of the key")
	c.Flags().StringVar(&f.purposeText, "purpose", "",
		"`PURPOSE` of the keyset, where several have a key of this id: "+keystore.PurposeNames())
}

func (f *keyFlag) given(c *cobra.Command) bool { return c.Flags().Changed("key-id") }

// parse gives the purpose "" for whichever keyset has the key.
func (f *keyFlag) parse(c *cobra.Command) (keystore.Purpose, uint32, error) {
	if !f.given(c) {
		return "", 0, fault.Input("--key-id", "not given", "see key ids with: fieldveil keys inspect NAME")
	}
	keyID, err := parseKeyID("--key-id", f.idText)
	if err != nil || !c.Flags().Changed("purpose") {
		return "", keyID, err
	}
	purpose, err := parsePurpose(f.purposeText)
	return purpose, keyID, err
}

func parseKeyID(flag, text string) (uint32, error) {
	keyID, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fault.Input(flag+" \""+text+"\"", "not a key id", "see key ids with: fieldveil keys inspect NAME")
	}
	return uint32(keyID), nil
}

func parsePurpose(text string) (keystore.Purpose, error) {
	purpose, known := keystore.ParsePurpose(text)
	if !known {
		return "", fault.Input("--purpose \""+text+"\"", "no such purpose", "use one of "+keystore.PurposeNames())
	}
	return purpose, nil
}
