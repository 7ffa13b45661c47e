package keystore

import (
	"fmt"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// DestroyKey removes one key from a keyset, and with it every backup of that
// keyset: they hold the key. Without a purpose it is whichever has the key.
func (s *Store) DestroyKey(name string, purpose Purpose, keyID uint32, kek tink.AEAD, witness Witness) (*Change, error) {
	unlock, err := s.begin(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
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
	if err := s.checkNoStrays(name); err != nil {
		return nil, err
	}
	file, err := s.Read(name, purpose)
	if err != nil {
		return nil, err
	}
	copies, err := backupsOf(file.Path)
	if err != nil {
		return nil, err
	}
	if err := checkOnlyNames(append(copies, file.Path)); err != nil {
		return nil, err
	}
	destroyed := &Destruction{Name: name, Keysets: []DestroyedKeyset{{Purpose: purpose, KeyIDs: []uint32{keyID}}}}
	prepared, copiesGone := false, false
	change, err := s.changeFile(file, kek, func(e *edit) error {
		if _, err := keyOf(e.Path, e.before.KeysetInfo(), keyID); err != nil {
			if !finishes {
				return err
			}
			// A former text may have come back meanwhile, or never have gone.
			prepared = true
			if err := witness.Prepare(destroyed); err != nil {
				return err
			}
			return s.removeAll(copies)
		}
		if err := e.takeOut(keyID); err != nil {
			return err
		}
		e.prepare = func() error {
			if err := witness.Prepare(destroyed); err != nil {
				return err
			}
			prepared = true
			if err := s.removeAll(copies); err != nil {
				return err
			}
			copiesGone = len(copies) > 0
			return s.syncBackups()
		}
		return nil
	})
	if err != nil {
		if prepared && !finishes && s.states(name, purpose, keyID) {
			witness.Cancel()
		}
		if copiesGone && fault.ExitStatus(err) == fault.ExitBadInput {
			return nil, errPartly(file.Path, err)
		}
		return nil, err
	}
	return change, s.attest(witness)
}

// PlanKeyDestruction names what DestroyKey would destroy, if it can.
func (s *Store) PlanKeyDestruction(name string, purpose Purpose, keyID uint32, kek tink.AEAD) (*Destruction, error) {
	if purpose == "" {
		var err error
		if purpose, err = s.PurposeOfKey(name, keyID); err != nil {
			return nil, err
		}
	}
	file, err := s.Read(name, purpose)
	if err != nil {
		return nil, err
	}
	handle, err := file.Open(kek)
	if err != nil {
		return nil, err
	}
	if _, err := keyOf(file.Path, handle.KeysetInfo(), keyID); err != nil {
		return nil, err
	}
	e := &edit{Change: &Change{Path: file.Path, Purpose: purpose, PreviousPrimary: handle.KeysetInfo().GetPrimaryKeyId()}}
	if err := e.checkNotPrimary(keyID, "destroyed"); err != nil {
		return nil, err
	}
	copies, err := backupsOf(file.Path)
	if err != nil {
		return nil, err
	}
	return &Destruction{Name: name, Keysets: []DestroyedKeyset{{Purpose: purpose, KeyIDs: []uint32{keyID}}}, Copies: len(copies)}, nil
}

func (e *edit) takeOut(keyID uint32) error {
	if err := e.checkNotPrimary(keyID, "destroyed"); err != nil {
		return err
	}
	if err := e.manager.Delete(keyID); err != nil {
		return fault.Failure(e.Path, fmt.Sprintf("key %d could not be taken out", keyID), "try again")
	}
	e.meta.forget(e.Purpose, keyID)
	e.Changed = true
	return nil
}

// syncBackups has former texts gone from the disk before the key leaves the
// keyset: while it is there, the same command finds them again.
func (s *Store) syncBackups() error {
	folder := filepath.Join(s.folder, backupsFolder)
	if err := s.syncIfThere(folder); err != nil {
		return errNotWritten(folder, err)
	}
	return nil
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
