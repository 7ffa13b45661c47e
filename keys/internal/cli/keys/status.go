package keys

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// statusChange is what enable and disable have in common.
type statusChange struct {
	action string // the command's name
	done   string // of the key, when it is so
	effect string // what follows for values, with the key's id
	set    func(*keystore.Store, string, keystore.Purpose, uint32, tink.AEAD) (*keystore.Change, error)

	keysets keyflag.Keysets
	kek     keyflag.KEK
	key     keyFlag
	output  command.OutputFlag
}

func (s *statusChange) addTo(c *cobra.Command) *cobra.Command {
	c.Args = command.Exactly("NAME")
	c.RunE = s.run
	s.keysets.Add(c)
	s.kek.Add(c)
	s.key.add(c)
	s.output.Add(c)
	return c
}

func (s *statusChange) run(c *cobra.Command, arguments []string) error {
	name := arguments[0]
	printer, err := s.output.Printer(c)
	if err != nil {
		return err
	}
	if err := keystore.CheckName(name); err != nil {
		return err
	}
	purpose, keyID, err := s.key.parse(c)
	if err != nil {
		return err
	}
	if err := s.keysets.Check(); err != nil {
		return err
	}
	aead, err := s.kek.Open()
	if err != nil {
		return err
	}
	store, err := keystore.Open(s.keysets.Folder)
	if err != nil {
		return err
	}
	if purpose == "" {
		if purpose, err = store.PurposeOfKey(name, keyID); err != nil {
			return err
		}
	}
	store.Announce(func(change *keystore.Change) {
		printer.Plan("%s: will %s key %d; "+s.effect, change.Path, s.action, keyID, keyID)
	})
	change, err := s.set(store, name, purpose, keyID, aead)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s key %d", s.done, keyID)
	if !change.Changed {
		said = fmt.Sprintf("key %d is %s already; nothing changed", keyID, s.done)
	}
	return printChange(printer, change, said, changedOf(s.action, change, keyID))
}
