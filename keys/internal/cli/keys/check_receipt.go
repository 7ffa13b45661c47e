package keys

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/receipt"
)

func newCheckReceipt() *cobra.Command {
	var output command.OutputFlag
	var public string
	c := &cobra.Command{
		Use:   "check-receipt FILE --public-keyset FILE",
		Short: "Check a receipt of destroyed keys, and show what it attests",
		Long: "Check the signature of a receipt that fieldveil keys destroy wrote, and show what it attests.\n" +
			"It needs the public half of the keyset that signed it and nothing else: no KMS, no keysets.\n\n" +
			"A receipt proves that the holder of the signing keyset stated it. That no copy of the keys is\n" +
			"left anywhere, nothing can prove.",
		Example: "  fieldveil keys check-receipt acme-destroyed.json --public-keyset receipts.public.json",
		Args:    command.Exactly("FILE"),
		RunE: func(c *cobra.Command, arguments []string) error {
			file := arguments[0]
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			if public == "" {
				return fault.Input("--public-keyset", "not given", "name what --public-out of fieldveil keys create-receipt-keyset wrote")
			}
			statement, err := receipt.Check(file, public)
			if err != nil {
				return err
			}
			return printer.Show(statementText(file, statement), map[string]any{"receipt": file, "valid": true, "statement": statement})
		},
	}
	c.Flags().StringVar(&public, "public-keyset", "", "`FILE` of the public half of the keyset that signed it")
	output.Add(c)
	return c
}

func statementText(file string, s *receipt.Statement) string {
	var text strings.Builder
	what := "single keys of"
	if s.Whole {
		what = "all keysets of"
	}
	fmt.Fprintf(&text, "%s: the signature is good\n", file)
	fmt.Fprintf(&text, "destroyed: %s %s\nat: %s\nwrapped by: %s\n", what, fault.OneLine(s.Name), s.DestroyedAt.Format(time.RFC3339), fault.OneLine(s.KEKURI))
	for _, k := range s.Keysets {
		fmt.Fprintf(&text, "%s keys: %s\n", fault.OneLine(string(k.Purpose)), strings.Trim(fmt.Sprint(k.KeyIDs), "[]"))
	}
	return text.String()
}
