package keystore

import (
	"fmt"
	"os"
	"slices"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Created names the one key of a new keyset file.
type Created struct {
	Purpose Purpose
	Path    string
	KeyID   uint32
	Type    string // Tink's name of the key's type
}

// Create makes the keysets of a new name, one of each purpose, or none.
func (s *Store) Create(name string, aeadTemplate AEADTemplate, kek tink.AEAD) ([]Created, error) {
	return s.create(name, Purposes, aeadTemplate, kek)
}

// CreateMissing makes the keyset of one purpose, which a name may lack that was
// made before there was this purpose.
func (s *Store) CreateMissing(name string, purpose Purpose, aeadTemplate AEADTemplate, kek tink.AEAD) ([]Created, error) {
	return s.create(name, []Purpose{purpose}, aeadTemplate, kek)
}

func (s *Store) create(name string, purposes []Purpose, aeadTemplate AEADTemplate, kek tink.AEAD) ([]Created, error) {
	unlock, err := s.begin(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.checkUnused(name, purposes); err != nil {
		return nil, err
	}

	about, err := s.readMeta(name)
	if err != nil {
		return nil, err
	}

	var created []Created
	texts := map[Purpose][]byte{}
	for _, purpose := range purposes {
		path := s.path(name, purpose)
		handle, err := keyset.NewHandle(purpose.template(aeadTemplate))
		if err != nil {
			return nil, fault.Failure(path, "no key could be made: "+err.Error(), "try again")
		}
		if texts[purpose], err = encrypt(handle, kek, path); err != nil {
			return nil, err
		}
		keyID := handle.KeysetInfo().GetPrimaryKeyId()
		about.add(purpose, keyID, s.now())
		about.wrap(purpose, kek, texts[purpose])
		created = append(created, Created{Purpose: purpose, Path: path, KeyID: keyID, Type: keyType(handle.KeysetInfo().GetKeyInfo()[0].GetTypeUrl())})
	}
	if s.announce != nil {
		for _, c := range created {
			s.announce(&Change{Name: name, Purpose: c.Purpose, Path: c.Path, Changed: true, Added: c.KeyID, Primary: c.KeyID})
		}
	}
	return created, s.write(name, created, texts, about)
}

// write makes all files or none.
func (s *Store) write(name string, created []Created, texts map[Purpose][]byte, about meta) error {
	aboutPath := s.file(name, metaKind)
	stagedMeta, err := atomicfile.Stage(aboutPath, about.text())
	if err != nil {
		return errNotWritten(aboutPath, err)
	}
	defer stagedMeta.Discard()
	staged := make([]*atomicfile.Staged, len(created))
	for i, c := range created {
		if staged[i], err = atomicfile.Stage(c.Path, texts[c.Purpose]); err != nil {
			return errNotWritten(c.Path, err)
		}
		defer staged[i].Discard()
	}
	for i, c := range created {
		if err := staged[i].Create(); err != nil {
			for _, earlier := range created[:i] {
				os.Remove(earlier.Path)
			}
			return errNotWritten(c.Path, err)
		}
	}
	// Last: without it the keysets are whole all the same.
	if err := stagedMeta.Replace(); err != nil {
		return fault.Failure(aboutPath, fault.Cause(err), "the keysets are made; the age of their keys stays unknown")
	}
	return nil
}

func (s *Store) checkUnused(name string, purposes []Purpose) error {
	there, err := s.PurposesOf(name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(purposes, func(p Purpose) bool { return slices.Contains(there, p) })
	if i < 0 {
		if len(there) == 0 {
			return s.checkRoom(name)
		}
		return nil
	}
	remedy := "choose another name, or see what this one has with: fieldveil keys inspect " + name
	if lacking := Lacking(there); len(lacking) > 0 && len(purposes) > 1 {
		remedy = fmt.Sprintf("give it what it lacks with: fieldveil keys create %s --purpose %s", name, lacking[0])
	}
	return fault.Input(s.path(name, purposes[i]), "the keyset exists already", remedy)
}

// checkRoom refuses the name that would make the folder one that is not served.
func (s *Store) checkRoom(name string) error {
	listing, err := s.List()
	if listing == nil { // and not overfull by other hands
		return err
	}
	names, most := listing.Names, MaxKeysets
	if IsTenant(name) {
		names, most = listing.Tenants, MaxTenants
	}
	if len(names) < most {
		return nil
	}
	return fault.Input(s.folder, fmt.Sprintf("it holds %d names already, the most that one agent serves", len(names)),
		"make it in another folder, with an agent of its own")
}

// Lacking are the purposes that are not among those of a name: it is older than
// they are, or its making was cut short.
func Lacking(there []Purpose) []Purpose {
	return slices.DeleteFunc(slices.Clone(Purposes), func(p Purpose) bool { return slices.Contains(there, p) })
}
