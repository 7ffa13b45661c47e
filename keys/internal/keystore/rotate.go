package keystore

import (
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Rotated says what a rotation changed.
type Rotated struct {
	Purpose         Purpose
	Path            string
	Added           uint32 // 0: no key was added
	PreviousPrimary uint32
	Primary         uint32
}

// AddKey adds a new key to a keyset and, if asked to, makes it the primary. The
// new key is of the given algorithm; without one, of the primary's.
func (s *Store) AddKey(name string, purpose Purpose, template AEADTemplate, promote bool, kek tink.AEAD) (*Rotated, error) {
	return s.change(name, purpose, kek, func(handle *keyset.Handle, manager *keyset.Manager, rotated *Rotated) error {
		keyID, err := addKey(handle, manager, purpose, template)
		if err != nil {
			return fault.Failure(rotated.Path, "no key could be made: "+err.Error(), "try again")
		}
		rotated.Added = keyID
		if !promote {
			return nil
		}
		if err := manager.SetPrimary(keyID); err != nil {
			return fault.Failure(rotated.Path, "the new key could not be promoted: "+err.Error(), "try again")
		}
		return nil
	})
}

// Promote makes a key that a keyset holds already its primary.
func (s *Store) Promote(name string, purpose Purpose, keyID uint32, kek tink.AEAD) (*Rotated, error) {
	return s.change(name, purpose, kek, func(handle *keyset.Handle, manager *keyset.Manager, rotated *Rotated) error {
		if err := checkPromotable(rotated.Path, handle.KeysetInfo(), keyID); err != nil {
			return err
		}
		if err := manager.SetPrimary(keyID); err != nil {
			return fault.Failure(rotated.Path, "the key could not be promoted: "+err.Error(), "try again")
		}
		return nil
	})
}

// PurposeOfKey finds which of a name's keysets states that it holds a key.
func (s *Store) PurposeOfKey(name string, keyID uint32) (Purpose, error) {
	listing, err := s.List()
	if err != nil {
		return "", err
	}
	if len(listing.Purposes[name]) == 0 {
		return "", errNoKeyset(s.path(name, AEAD), name)
	}
	var found []Purpose
	var held []string
	for _, purpose := range listing.Purposes[name] {
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

// change reads, changes and replaces one keyset under the folder's lock.
func (s *Store) change(
	name string, purpose Purpose, kek tink.AEAD,
	edit func(*keyset.Handle, *keyset.Manager, *Rotated) error,
) (*Rotated, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if purpose == PRF {
		return nil, fault.Input(s.path(name, purpose),
			"the primary key of a PRF keyset is never changed: earlier indexes would no longer be found, "+
				"and format-preserving values, which name no key, would open to nonsense",
			"make a keyset of another name, and move labels to it one by one")
	}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()

	file, err := s.Read(name, purpose)
	if err != nil {
		return nil, err
	}
	before, err := file.Open(kek)
	if err != nil {
		return nil, err
	}
	rotated := &Rotated{Purpose: purpose, Path: file.Path, PreviousPrimary: before.KeysetInfo().GetPrimaryKeyId()}
	manager := keyset.NewManagerFromHandle(before)
	if err := edit(before, manager, rotated); err != nil {
		return nil, err
	}
	after, err := manager.Handle()
	if err != nil {
		return nil, fault.Failure(file.Path, "the keyset could not be put together: "+err.Error(), "try again")
	}
	rotated.Primary = after.KeysetInfo().GetPrimaryKeyId()
	if rotated.Added == 0 && rotated.Primary == rotated.PreviousPrimary {
		return rotated, nil
	}
	text, err := encrypt(after, kek, file.Path)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFileBytes {
		return nil, fault.Input(file.Path, "it would be longer than a keyset file can be (1 MiB)", "start a new keyset")
	}
	if err := atomicfile.Replace(file.Path, text); err != nil {
		return nil, fault.Failure(file.Path, fault.Cause(err), "make the folder writable")
	}
	return rotated, nil
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

func checkPromotable(path string, info *tinkpb.KeysetInfo, keyID uint32) error {
	for _, key := range info.GetKeyInfo() {
		if key.GetKeyId() != keyID {
			continue
		}
		if key.GetStatus() == tinkpb.KeyStatusType_ENABLED {
			return nil
		}
		return fault.Input(path, fmt.Sprintf("key %d is %s, and a primary must be enabled", keyID, key.GetStatus()),
			"promote an enabled key")
	}
	return fault.Input(path, fmt.Sprintf("it has no key %d", keyID), "see its keys with: fieldveil keys list")
}
