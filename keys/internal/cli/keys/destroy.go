package keys

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newDestroy() *cobra.Command {
	var d destruction
	c := &cobra.Command{
		Use:   "destroy NAME [--key-id KEY_ID]",
		Short: "Destroy one key, or a name with all its keysets; what they sealed is lost",
		Long: "Destroy a name with all its keysets, or with --key-id one key of one of them, and every former\n" +
			"text in the folder that holds it. What was sealed with it can not be opened again: destroying\n" +
			"a tenant's keysets (NAME/TENANT) makes that tenant's values unreadable everywhere.\n\n" +
			"It reaches this folder. Copies of it elsewhere, in a ConfigMap, a Secret or a backup of the\n" +
			"disk, open for as long as their key-encryption key does.\n\n" +
			"--receipt writes a signed statement of what was destroyed and when; it is there if and only\n" +
			"if all of it was. A run that was cut short is finished by the same command. A primary key can\n" +
			"not be destroyed alone: promote another first.",
		Example: "  fieldveil keys destroy pii/acme --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii \\\n" +
			"    --receipt acme-destroyed.json --receipt-keyset receipts.json\n" +
			"  fieldveil keys destroy pii --key-id 1234567 --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii",
		Args: command.Exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			d.name = arguments[0]
			if err := d.open(c); err != nil {
				return err
			}
			if d.wholeName {
				return d.destroyName(c)
			}
			return d.destroyKey(c)
		},
	}
	d.keysets.Add(c)
	d.kek.Add(c)
	d.key.add(c)
	d.receipt.add(c)
	d.yes.add(c)
	d.output.Add(c)
	return c
}

// destruction is what the flags ask for.
type destruction struct {
	keysets keyflag.Keysets
	kek     keyflag.KEK
	key     keyFlag
	receipt receiptFlags
	yes     yesFlag
	output  command.OutputFlag

	name      string
	wholeName bool
	purpose   keystore.Purpose // "": whichever keyset has the key
	keyID     uint32
	printer   *command.Printer
	aead      tink.AEAD
	store     *keystore.Store
	witness   keystore.Witness
}

func (d *destruction) open(c *cobra.Command) (err error) {
	if d.printer, err = d.output.Printer(c); err != nil {
		return err
	}
	if err := keystore.CheckName(d.name); err != nil {
		return err
	}
	if d.wholeName = !d.key.given(c) && !c.Flags().Changed("purpose"); !d.wholeName {
		if d.purpose, d.keyID, err = d.key.parse(c); err != nil {
			return err
		}
	}
	if err := d.keysets.Check(); err != nil {
		return err
	}
	if err := d.receipt.check(); err != nil {
		return err
	}
	if d.aead, err = d.kek.Open(); err != nil {
		return err
	}
	if d.store, err = keystore.Open(d.keysets.Folder); err != nil {
		return err
	}
	d.witness, err = d.receipt.witness(d.keysets.Folder, d.kek.URI)
	return err
}

func (d *destruction) destroyName(c *cobra.Command) error {
	// A receipt that can not be is said before anybody is asked.
	if _, err := d.witness.Earlier(d.name); err != nil {
		return err
	}
	planned, err := d.store.PlanDestruction(d.name, d.aead)
	if err != nil {
		return err
	}
	// With nothing there it is an error, or all that lacks is the receipt.
	if len(planned.Keysets) > 0 || planned.Copies > 0 {
		d.printer.Plan("%s", planText(planned))
		if err := d.yes.confirm(c, d.name); err != nil {
			return err
		}
	}
	done, err := d.store.Destroy(planned, d.aead, d.witness)
	if err != nil {
		return err
	}
	return d.report(done)
}

func (d *destruction) destroyKey(c *cobra.Command) error {
	planned, err := d.store.PlanKeyDestruction(d.name, d.purpose, d.keyID, d.aead, d.witness)
	if err != nil {
		return err
	}
	// A run that was cut short may have done all but attest it.
	if !planned.Gone || planned.Copies > 0 {
		d.printer.Plan("%s", planText(planned))
		if err := d.yes.confirm(c, fmt.Sprint(d.keyID)); err != nil {
			return err
		}
	}
	change, err := d.store.DestroyKey(planned, d.aead, d.witness)
	if err != nil {
		return err
	}
	return d.report(&keystore.Destruction{
		Name: d.name, Keysets: []keystore.DestroyedKeyset{{Purpose: change.Purpose, KeyIDs: []uint32{d.keyID}}},
	})
}

func planText(planned *keystore.Destruction) string {
	var text strings.Builder
	what := "the key"
	if planned.Whole {
		what = "all keysets"
	}
	fmt.Fprintf(&text, "will destroy %s of %s: ", what, planned.Name)
	text.WriteString(keysText(planned))
	fmt.Fprintf(&text, "; former texts and notes beside them: %d; what they sealed will not open again", planned.Copies)
	return text.String()
}

func keysText(d *keystore.Destruction) string {
	var parts []string
	for _, k := range d.Keysets {
		parts = append(parts, strings.Trim(fmt.Sprintf("%s %v", k.Purpose, k.KeyIDs), " "))
	}
	if len(parts) == 0 {
		return "no keyset is left"
	}
	return strings.Join(parts, ", ")
}

type destroyedKeyset struct {
	Purpose keystore.Purpose `json:"purpose"`
	KeyIDs  []uint32         `json:"key_ids"`
}

type destroyed struct {
	Action  string            `json:"action"`
	Name    string            `json:"name"`
	Whole   bool              `json:"whole"`
	Keysets []destroyedKeyset `json:"keysets"`
	Receipt *string           `json:"receipt"` // null: none was asked for
}

func (d *destruction) report(done *keystore.Destruction) error {
	document := destroyed{Action: "destroy", Name: done.Name, Whole: done.Whole, Keysets: []destroyedKeyset{}, Receipt: orNull(d.receipt.file)}
	for _, k := range done.Keysets {
		document.Keysets = append(document.Keysets, destroyedKeyset(k))
	}
	text := fmt.Sprintf("destroyed %s: %s\n", done.Name, keysText(done))
	if d.receipt.file != "" {
		text += "the receipt is " + d.receipt.file + "\n"
	}
	return d.printer.Done(text, document)
}
