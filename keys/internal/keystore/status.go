package keystore

import (
	"fmt"

	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Disable leaves a key in its keyset and takes it out of use: what it sealed no
// longer opens, until it is enabled again.
func (s *Store) Disable(name string, purpose Purpose, keyID uint32, kek tink.AEAD) (*Change, error) {
	return s.change(name, purpose, kek, func(e *edit) error {
		if err := e.checkNotPrimary(keyID, "disabled"); err != nil {
			return err
		}
		return e.setStatus(keyID, tinkpb.KeyStatusType_DISABLED, e.manager.Disable)
	})
}

// Enable takes a disabled key into use again.
func (s *Store) Enable(name string, purpose Purpose, keyID uint32, kek tink.AEAD) (*Change, error) {
	return s.change(name, purpose, kek, func(e *edit) error {
		return e.setStatus(keyID, tinkpb.KeyStatusType_ENABLED, e.manager.Enable)
	})
}

func (e *edit) setStatus(keyID uint32, status tinkpb.KeyStatusType, set func(keyID uint32) error) error {
	key, err := keyOf(e.Path, e.before.KeysetInfo(), keyID)
	if err != nil {
		return err
	}
	if key.GetStatus() == status {
		return nil
	}
	if err := set(keyID); err != nil {
		return fault.Input(e.Path, fmt.Sprintf("key %d is %s", keyID, key.GetStatus()), "choose a key that is there")
	}
	e.Changed = true
	return nil
}

func (e *edit) checkNotPrimary(keyID uint32, done string) error {
	if keyID != e.PreviousPrimary {
		return nil
	}
	if e.Purpose == PRF {
		return fault.Input(e.Path, fmt.Sprintf("key %d is the primary, which can not be %s", keyID, done),
			"destroy the whole name if nothing that it sealed is to be read again")
	}
	return fault.Input(e.Path, fmt.Sprintf("key %d is the primary, which can not be %s", keyID, done),
		"promote another key first with: fieldveil keys rotate")
}
