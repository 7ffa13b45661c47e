package keys

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newRewrap() *cobra.Command {
	var r rewrap
	c := &cobra.Command{
		Use:   "rewrap NAME... | --all | --receipt-keyset FILE",
		Short: "Wrap keysets by another key-encryption key; their keys stay as they are",
		Long: "Open keysets with the key-encryption key that wraps them and wrap them by another, of the same\n" +
			"KMS or of another one. Keys, key ids and what they sealed stay as they are. With one URI given\n" +
			"as both, they are wrapped anew by the newest version of their key-encryption key.\n\n" +
			"Everything is opened before the first file is changed. Cut short, it goes on where it was when\n" +
			"it is run again. Former texts in the folder backups stay wrapped as they were.",
		Example: "  fieldveil keys rewrap --all --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii \\\n" +
			"    --new-kek-uri aws-kms://arn:aws:kms:eu-central-1:111122223333:key/5f7c6a0e-0000-4000-8000-000000000000",
		RunE: func(c *cobra.Command, names []string) error { return r.run(c, names) },
	}
	r.keysets.Add(c)
	r.kek.Add(c)
	c.Flags().StringVar(&r.newURI, "new-kek-uri", "", "key `URI` of the key-encryption key to wrap by, of the same forms")
	c.Flags().BoolVar(&r.all, "all", false, "every keyset of the folder")
	c.Flags().StringVar(&r.receiptKeyset, "receipt-keyset", "", "`FILE` of a keyset that signs receipts")
	r.output.Add(c)
	return c
}

// rewrap is what the flags ask for.
type rewrap struct {
	keysets       keyflag.Keysets
	kek           keyflag.KEK
	newURI        string
	all           bool
	receiptKeyset string
	output        command.OutputFlag
}

type rewrapped struct {
	Name    string           `json:"name"`
	Purpose keystore.Purpose `json:"purpose"`
	Path    string           `json:"path"`
	Already bool             `json:"already"` // it was wrapped so before
	Backup  *string          `json:"backup"`
}

func (r *rewrap) run(c *cobra.Command, names []string) error {
	printer, err := r.output.Printer(c)
	if err != nil {
		return err
	}
	if err := r.check(names); err != nil {
		return err
	}
	former, err := r.kek.Open()
	if err != nil {
		return err
	}
	next, err := keyflag.OpenKEK(r.newURI)
	if err != nil {
		return err
	}
	done := []rewrapped{}
	var text strings.Builder
	said := func(one keystore.Rewrapped) {
		word := "rewrapped"
		if one.Already {
			word = "is wrapped by the new key-encryption key already"
		}
		fmt.Fprintf(&text, "%s: %s\n", one.Path, word)
		if one.Backup != "" {
			fmt.Fprintf(&text, "%s: its former text is kept in %s, wrapped by the former key-encryption key\n", one.Path, one.Backup)
		}
		done = append(done, rewrapped{Name: one.Name, Purpose: one.Purpose, Path: one.Path, Already: one.Already, Backup: orNull(one.Backup)})
	}
	err = r.rewrap(names, former, next, printer, said)
	if err != nil && len(done) == 0 {
		return err
	}
	// With an error, what was done before it.
	untold := printer.Done(text.String(), map[string]any{"action": "rewrap", "kek_uri": r.newURI, "keysets": done})
	if err == nil {
		return untold
	}
	if untold != nil {
		printer.Error(untold)
	}
	return err
}

func (r *rewrap) check(names []string) error {
	for _, name := range names {
		if err := keystore.CheckName(name); err != nil {
			return err
		}
	}
	given := 0
	for _, one := range []bool{len(names) > 0, r.all, r.receiptKeyset != ""} {
		if one {
			given++
		}
	}
	switch {
	case given != 1:
		return fault.Input("fieldveil keys rewrap", "it takes names, --all or --receipt-keyset, and one of these alone", "say what to rewrap")
	case r.newURI == "":
		return keyflag.NoKEK("--new-kek-uri")
	case r.receiptKeyset != "":
		return nil
	}
	return r.keysets.Check()
}

func (r *rewrap) rewrap(names []string, former, next tink.AEAD, printer *command.Printer, said func(keystore.Rewrapped)) error {
	announce := func(change *keystore.Change) { printer.Plan("%s: will wrap it by %s", change.Path, r.newURI) }
	if r.receiptKeyset != "" {
		return keystore.RewrapSignature(r.receiptKeyset, former, next, announce, said)
	}
	store, err := keystore.Open(r.keysets.Folder)
	if err != nil {
		return err
	}
	store.Announce(announce)
	if r.all {
		if names, err = allNames(store, r.keysets.Folder, printer); err != nil {
			return err
		}
	}
	return store.Rewrap(names, former, next, said)
}
