package keys

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newRotate() *cobra.Command {
	var r rotation
	c := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Add a key to a keyset and promote it; earlier keys still open what they sealed",
		Long: "Add a new key to a keyset and make it the primary, the one that seals. Earlier keys stay and\n" +
			"still open what they sealed.\n\n" +
			"With several sidecars, do it in two steps, so that none meets a value of a key that it does\n" +
			"not have yet: --add first, and --promote KEY_ID when all of them have polled.\n\n" +
			"The AEAD keyset is rotated unless --purpose says otherwise. While a deterministic keyset has\n" +
			"several enabled keys, searches look for what each of them sealed; joins and grouping by such a\n" +
			"column are refused until the table is resealed and the earlier keys are disabled. A PRF keyset\n" +
			"is not rotated: nothing tells which of its keys made an index or a format-preserving value.",
		Example: "  fieldveil keys rotate pii --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii --add\n" +
			"  fieldveil keys rotate pii --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii --promote 1234567",
		Args: command.Exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			r.name = arguments[0]
			printer, err := r.output.Printer(c)
			if err != nil {
				return err
			}
			if err := r.parse(c); err != nil {
				return err
			}
			rotated, err := r.run(printer)
			if err != nil {
				return err
			}
			return r.report(printer, rotated)
		},
	}
	r.keysets.Add(c)
	r.kek.Add(c)
	r.templateFlag.add(c, "", " (as the present primary's if left out)")
	c.Flags().StringVar(&r.purposeText, "purpose", string(keystore.AEAD), "`PURPOSE` of the keyset: aead or deterministic")
	c.Flags().BoolVar(&r.addOnly, "add", false, "add a key and leave the primary as it is")
	c.Flags().StringVar(&r.promoteText, "promote", "", "make the key `KEY_ID` the primary and add none")
	r.output.Add(c)
	// --add was called --add-only.
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "add-only" {
			name = "add"
		}
		return pflag.NormalizedName(name)
	})
	return c
}

// rotation is what the flags ask for.
type rotation struct {
	name         string
	keysets      keyflag.Keysets
	kek          keyflag.KEK
	templateFlag aeadTemplateFlag
	purposeText  string
	promoteText  string
	addOnly      bool
	output       command.OutputFlag

	purpose  keystore.Purpose // "" with promotes: whichever keyset has the key
	template keystore.AEADTemplate
	promotes bool // a key that is there, and adds none
	keyID    uint32
}

func (r *rotation) parse(c *cobra.Command) error {
	if err := keystore.CheckName(r.name); err != nil {
		return err
	}
	if err := r.keysets.Check(); err != nil {
		return err
	}
	purpose, err := parsePurpose(r.purposeText)
	if err != nil {
		return err
	}
	r.purpose = purpose
	r.promotes = c.Flags().Changed("promote")
	templateGiven := c.Flags().Changed("aead-template")
	switch {
	case r.promotes && (r.addOnly || templateGiven):
		return fault.Input("--promote", "it adds no key, so it goes with neither --add nor --aead-template",
			"add first, and promote later")
	case r.promotes:
		if r.keyID, err = parseKeyID("--promote", r.promoteText); err != nil {
			return err
		}
		if !c.Flags().Changed("purpose") {
			r.purpose = ""
		}
	case templateGiven && purpose != keystore.AEAD:
		return errTemplateWithoutAEAD()
	case templateGiven:
		r.template, err = r.templateFlag.parse()
		return err
	}
	return nil
}

func (r *rotation) run(printer *command.Printer) (*keystore.Change, error) {
	aead, err := r.kek.Open()
	if err != nil {
		return nil, err
	}
	store, err := keystore.Open(r.keysets.Folder)
	if err != nil {
		return nil, err
	}
	store.Announce(func(change *keystore.Change) { printer.Plan("%s: will %s", change.Path, r.plan(change)) })
	if !r.promotes {
		return store.AddKey(r.name, r.purpose, r.template, !r.addOnly, aead)
	}
	purpose := r.purpose
	if purpose == "" {
		if purpose, err = store.PurposeOfKey(r.name, r.keyID); err != nil {
			return nil, err
		}
	}
	return store.Promote(r.name, purpose, r.keyID, aead)
}

func (r *rotation) plan(change *keystore.Change) string {
	switch {
	case r.promotes:
		return fmt.Sprintf("promote key %d; the primary is %d", change.Primary, change.PreviousPrimary)
	case r.addOnly:
		return fmt.Sprintf("add key %d and leave key %d the primary", change.Added, change.Primary)
	default:
		return fmt.Sprintf("add key %d and promote it; the primary is %d", change.Added, change.PreviousPrimary)
	}
}

func (r *rotation) report(printer *command.Printer, rotated *keystore.Change) error {
	var said string
	action, keyID := "rotate", rotated.Added
	changed := rotated.Primary != rotated.PreviousPrimary
	switch {
	case r.promotes && !changed:
		action, keyID = "promote", r.keyID
		said = fmt.Sprintf("key %d is the primary already; nothing changed", r.keyID)
	case r.promotes:
		action, keyID = "promote", r.keyID
		said = fmt.Sprintf("promoted key %d; the primary was %d", rotated.Primary, rotated.PreviousPrimary)
	case r.addOnly:
		action = "add"
		said = fmt.Sprintf("added key %d; the primary is still %d (promote it with: fieldveil keys rotate %s --promote %d)",
			rotated.Added, rotated.Primary, r.name, rotated.Added)
	default:
		said = fmt.Sprintf("added key %d and promoted it; the primary was %d", rotated.Added, rotated.PreviousPrimary)
	}
	if changed && rotated.Purpose == keystore.Deterministic {
		printer.Warn(rotated.Path, fmt.Sprintf("equality searches no longer find values sealed with key %d", rotated.PreviousPrimary),
			"seal those anew, or promote it again")
	}
	return printChange(printer, rotated, said, changedOf(action, rotated, keyID))
}
