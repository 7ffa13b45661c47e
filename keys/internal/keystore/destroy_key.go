package keystore

import (
	"fmt"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// DestroyKey removes one key from a keyset, if that is still what was agreed to,
// and with it every backup of that keyset: they hold the key.
func (s *Store) DestroyKey(agreed *Destruction, kek tink.AEAD, witness Witness) (*Change, error) {
	name, purpose, keyID := agreed.Name, agreed.Keysets[0].Purpose, agreed.Keysets[0].KeyIDs[0]
	unlock, err := s.begin(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	planned, err := s.PlanKeyDestruction(name, purpose, keyID, kek, witness)
	if err != nil {
		return nil, err
	}
	if !planned.isSame(agreed) {
		return nil, errChangedMeanwhile(name)
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
	prepared, copiesGone := false, false
	change, err := s.changeFile(file, kek, func(e *edit) error {
		if planned.Gone {
			// A former text may have come back meanwhile, or never have gone.
			if err := witness.Prepare(planned); err != nil {
				return err
			}
			return s.removeAll(copies)
		}
		if err := e.takeOut(keyID); err != nil {
			return err
		}
		e.prepare = func() error {
			if err := witness.Prepare(planned); err != nil {
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
		if prepared && !planned.finishes && s.states(name, purpose, keyID) {
			witness.Cancel()
		}
		if copiesGone && fault.ExitStatus(err) == fault.ExitBadInput {
			return nil, errPartly(file.Path, err)
		}
		return nil, err
	}
	return change, s.attest(witness)
}

// PlanKeyDestruction names what DestroyKey would destroy, if it can. Without a
// purpose it is whichever keyset has the key. One that a run took out which was
// cut short is gone, and what lacks is to attest it.
func (s *Store) PlanKeyDestruction(name string, purpose Purpose, keyID uint32, kek tink.AEAD, witness Witness) (*Destruction, error) {
	earlier, err := witness.Earlier(name)
	if err != nil {
		return nil, err
	}
	switch {
	case earlier != nil && !earlier.isOf(purpose, keyID):
		return nil, fault.Input(name, "an earlier destruction with this receipt was cut short", "run that again first, to finish it")
	case earlier != nil:
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
	handle, err := file.Open(kek)
	if err != nil {
		return nil, err
	}
	copies, err := backupsOf(file.Path)
	if err != nil {
		return nil, err
	}
	planned := &Destruction{
		Name: name, Keysets: []DestroyedKeyset{{Purpose: purpose, KeyIDs: []uint32{keyID}}}, Copies: len(copies),
		finishes: earlier != nil, texts: []string{digest(file.Text)},
	}
	if _, err := keyOf(file.Path, handle.KeysetInfo(), keyID); err != nil {
		planned.Gone = true
		if earlier == nil {
			return nil, err
		}
		return planned, nil
	}
	e := &edit{Change: &Change{Path: file.Path, Purpose: purpose, PreviousPrimary: handle.KeysetInfo().GetPrimaryKeyId()}}
	return planned, e.checkNotPrimary(keyID, "destroyed")
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
