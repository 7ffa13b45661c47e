package keys

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/receipt"
)

// receiptFlags ask for a receipt of a destruction.
type receiptFlags struct{ file, keyset, kekURI string }

func (f *receiptFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "receipt", "", "write a signed receipt to this new `FILE`")
	c.Flags().StringVar(&f.keyset, "receipt-keyset", "", "`FILE` of the keyset that signs it")
	c.Flags().StringVar(&f.kekURI, "receipt-kek-uri", "", "key `URI` of the key-encryption key of that keyset (that of --kek-uri if left out)")
}

func (f *receiptFlags) check() error {
	switch {
	case f.file == "" && (f.keyset != "" || f.kekURI != ""):
		return fault.Input("--receipt", "not given", "name the file to write the receipt to, or leave out the other flags of it")
	case f.file != "" && f.keyset == "":
		return fault.Input("--receipt-keyset", "not given", "name the keyset that signs; make one with: fieldveil keys create-receipt-keyset")
	}
	return nil
}

// witness opens the signing keyset. Without a receipt nothing attests.
func (f *receiptFlags) witness(folder, kekURI string) (keystore.Witness, error) {
	if f.file == "" {
		return keystore.NoWitness{}, nil
	}
	signing, err := keystore.ReadSignature(f.keyset)
	if err != nil {
		return nil, err
	}
	signingKEK := f.kekURI
	if signingKEK == "" {
		signingKEK = kekURI
	}
	aead, err := keyflag.OpenKEK(signingKEK)
	if err != nil {
		return nil, err
	}
	handle, err := signing.Open(aead)
	if err != nil {
		return nil, err
	}
	return receipt.NewWitness(f.file, folder, kekURI, handle)
}
