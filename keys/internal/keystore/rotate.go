package keystore

import (
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// AddKey adds a new key to a keyset and, if asked to, makes it the primary. The
// new key is of the given algorithm; without one, of the primary's.
func (s *Store) AddKey(name string, purpose Purpose, template AEADTemplate, promote bool, kek tink.AEAD) (*Change, error) {
	if err := s.checkRotatable(name, purpose); err != nil {
		return nil, err
	}
	return s.change(name, purpose, kek, func(e *edit) error {
		if e.before.Len() >= MaxKeys {
			return fault.Input(e.Path, fmt.Sprintf("it has %d keys already, the most that the filter takes", MaxKeys),
				"destroy keys that are out of use with: fieldveil keys destroy")
		}
		keyID, err := addKey(e.before, e.manager, purpose, template)
		if err != nil {
			return fault.Failure(e.Path, "no key could be made: "+err.Error(), "try again")
		}
		e.meta.add(purpose, keyID, s.now())
		e.Added, e.Changed = keyID, true
		if !promote {
			return nil
		}
		if err := e.manager.SetPrimary(keyID); err != nil {
			return fault.Failure(e.Path, "the new key could not be promoted: "+err.Error(), "try again")
		}
		return nil
	})
}

// Promote makes a key that a keyset holds already its primary.
func (s *Store) Promote(name string, purpose Purpose, keyID uint32, kek tink.AEAD) (*Change, error) {
	if err := s.checkRotatable(name, purpose); err != nil {
		return nil, err
	}
	return s.change(name, purpose, kek, func(e *edit) error {
		key, err := keyOf(e.Path, e.before.KeysetInfo(), keyID)
		if err != nil {
			return err
		}
		if key.GetStatus() != tinkpb.KeyStatusType_ENABLED {
			return fault.Input(e.Path, fmt.Sprintf("key %d is %s, and a primary must be enabled", keyID, key.GetStatus()),
				"enable it first with: fieldveil keys enable, or promote an enabled key")
		}
		if keyID == e.PreviousPrimary {
			return nil
		}
		if err := e.manager.SetPrimary(keyID); err != nil {
			return fault.Failure(e.Path, "the key could not be promoted: "+err.Error(), "try again")
		}
		e.Changed = true
		return nil
	})
}

func (s *Store) checkRotatable(name string, purpose Purpose) error {
	if err := CheckName(name); err != nil || purpose != PRF {
		return err
	}
	return fault.Input(s.path(name, purpose),
		"the primary key of a PRF keyset is never changed: earlier indexes would no longer be found, "+
			"and format-preserving values, which name no key, would open to nonsense",
		"make a keyset of another name, and move labels to it one by one")
}

// PurposeOfKey finds which of a name's keysets states that it holds a key.
func (s *Store) PurposeOfKey(name string, keyID uint32) (Purpose, error) {
	purposes, err := s.PurposesOf(name)
	if err != nil {
		return "", err
	}
	if len(purposes) == 0 {
		return "", errNoKeyset(s.path(name, AEAD), name)
	}
	var found []Purpose
	var held []string
	for _, purpose := range purposes {
		file, err := s.Read(name, purpose)
		if err != nil {
			return "", err
		}
		for _, key := range file.Info().GetKeyInfo() {
			held = append(held, fmt.Sprintf("%d (%s)", key.GetKeyId(), purpose))
			if key.GetKeyId() == keyID {
				found = append(found, purpose)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fault.Input(fmt.Sprintf("key %d", keyID), "keyset "+name+" has no such key",
			"use one of "+strings.Join(held, ", "))
	default:
		return "", fault.Input(fmt.Sprintf("key %d", keyID), "several keysets of "+name+" have a key of this id",
			"name one with --purpose")
	}
}

func addKey(handle *keyset.Handle, manager *keyset.Manager, purpose Purpose, template AEADTemplate) (uint32, error) {
	if purpose == AEAD && template != "" {
		return manager.Add(template.template())
	}
	primary, err := handle.Primary()
	if err != nil {
		return 0, err
	}
	return manager.AddNewKeyFromParameters(primary.Key().Parameters())
}

func keyOf(path string, info *tinkpb.KeysetInfo, keyID uint32) (*tinkpb.KeysetInfo_KeyInfo, error) {
	for _, key := range info.GetKeyInfo() {
		if key.GetKeyId() == keyID {
			return key, nil
		}
	}
	return nil, errNoKey(path, keyID)
}
