package keys

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/receipt"
)

func newCreateReceiptKeyset() *cobra.Command {
	var kek keyflag.KEK
	var output command.OutputFlag
	var out, publicOut string
	c := &cobra.Command{
		Use:   "create-receipt-keyset --out FILE --public-out FILE",
		Short: "Make the keyset that signs receipts of destroyed keys",
		Long: "Make a keyset with one Ed25519 key, wrapped by the key-encryption key, and beside it its public\n" +
			"half in clear, for whoever checks receipts: give that to the auditors before the first receipt.\n" +
			"Keep the keyset apart from the keysets that agents serve. Existing files are never replaced.",
		Example: "  fieldveil keys create-receipt-keyset --out receipts.json --public-out receipts.public.json \\\n" +
			"    --kek-uri hcvault://vault.example:8200/transit/keys/receipts",
		Args: command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			switch "" {
			case out:
				return fault.Input("--out", "not given", "name the file to make")
			case publicOut:
				return fault.Input("--public-out", "not given", "name the file to make")
			}
			aead, err := kek.Open()
			if err != nil {
				return err
			}
			announce := func() { printer.Plan("will make %s and %s", out, publicOut) }
			keyID, err := keystore.CreateSignature(out, publicOut, receipt.Public, aead, announce)
			if err != nil {
				return err
			}
			return printer.Done(
				fmt.Sprintf("created %s (primary key %d)\ncreated %s: give it to whoever checks receipts\n", out, keyID, publicOut),
				map[string]any{"created": out, "public": publicOut, "key_id": keyID})
		},
	}
	kek.Add(c)
	c.Flags().StringVar(&out, "out", "", "`FILE` to make; an existing one is never replaced")
	c.Flags().StringVar(&publicOut, "public-out", "", "`FILE` to make for the public half; an existing one is never replaced")
	output.Add(c)
	return c
}
