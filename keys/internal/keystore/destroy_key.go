package keystore

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// DestroyKey removes one key from a keyset, and with it every backup of that
// keyset: they hold the key. Without a purpose it is whichever has the key.
func (s *Store) DestroyKey(name string, purpose Purpose, keyID uint32, kek tink.AEAD, witness Witness) (*Change, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	earlier, err := witness.Earlier(name)
	if err != nil {
		return nil, err
	}
	finishes := earlier != nil && !earlier.Whole && earlier.Has(keyID)
	switch {
	case earlier != nil && !finishes:
		return nil, fault.Input(name, "an earlier destruction with this receipt was cut short", "run that again first, to finish it")
	case finishes:
		purpose = earlier.Keysets[0].Purpose
	case purpose == "":
		if purpose, err = s.PurposeOfKey(name, keyID); err != nil {
			return nil, err
		}
	}
	prepared := false
	change, err := s.change(name, purpose, kek, func(e *edit) error {
		if _, err := keyOf(e.Path, e.before.KeysetInfo(), keyID); err != nil {
			if finishes {
				return nil
			}
			return err
		}
		if err := e.checkNotPrimary(keyID, "destroyed"); err != nil {
			return err
		}
		if err := e.manager.Delete(keyID); err != nil {
			return fault.Failure(e.Path, fmt.Sprintf("key %d could not be taken out", keyID), "try again")
		}
		e.meta.forget(purpose, keyID)
		e.Changed = true
		e.prepare = func() error {
			destroyed := DestroyedKeyset{Purpose: purpose, KeyIDs: []uint32{keyID}}
			if err := witness.Prepare(&Destruction{Name: name, Keysets: []DestroyedKeyset{destroyed}}); err != nil {
				return err
			}
			prepared = true
			copies, err := backupsOf(e.Path)
			if err != nil {
				return err
			}
			return s.removeAll(copies)
		}
		return nil
	})
	if err != nil {
		if prepared && !finishes && s.states(name, purpose, keyID) {
			witness.Cancel()
		}
		return nil, err
	}
	return change, s.attest(witness)
}

// states reads whether a keyset's file states that it holds a key.
func (s *Store) states(name string, purpose Purpose, keyID uint32) bool {
	file, err := s.Read(name, purpose)
	if err != nil {
		return false
	}
	_, err = keyOf(file.Path, file.Info(), keyID)
	return err == nil
}
