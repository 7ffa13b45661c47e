package keystore

import (
	"errors"
	"io/fs"
	"os"

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
	if err := CheckName(name); err != nil {
		return nil, err
	}
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.sweep(name); err != nil {
		return nil, err
	}
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
		created = append(created, Created{Purpose: purpose, Path: path, KeyID: keyID})
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
	for _, purpose := range purposes {
		path := s.path(name, purpose)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			return fault.Input(path, "the keyset exists already",
				"choose another name, or see what this one has with: fieldveil keys list")
		case !errors.Is(err, fs.ErrNotExist):
			return fault.Failure(path, fault.Cause(err), "make the folder readable")
		}
	}
	return nil
}
