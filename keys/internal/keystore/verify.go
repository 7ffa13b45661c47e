package keystore

import (
	"bytes"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"
	"google.golang.org/protobuf/proto"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Verify opens a keyset, compares what its file states with what it holds, and
// uses every enabled key once.
func (s *Store) Verify(name string, purpose Purpose, kek tink.AEAD) error {
	file, err := s.Read(name, purpose)
	if err != nil {
		return err
	}
	return file.Verify(kek)
}

// Verify does so for a file that was read.
func (f *File) Verify(kek tink.AEAD) error {
	handle, err := f.Open(kek)
	if err != nil {
		return err
	}
	if !proto.Equal(f.Info(), handle.KeysetInfo()) {
		return fault.Input(f.Path, "it states other keys than it holds", "write it anew with: fieldveil keys rewrap")
	}
	for i := range handle.Len() {
		entry, err := handle.Entry(i)
		if err != nil || entry.KeyStatus() != keyset.Enabled {
			continue
		}
		if err := f.Purpose.exercise(handle, entry.KeyID()); err != nil {
			return fault.Input(f.Path, fmt.Sprintf("key %d does not work (%s)", entry.KeyID(), err), restore)
		}
	}
	return nil
}

// VerifyMeta reads the file that says when a name's keys were made.
func (s *Store) VerifyMeta(name string) error {
	_, err := s.readMeta(name)
	return err
}

var errOtherOutput = fmt.Errorf("what it made was not taken back")

// exercise uses one key as a primary, and takes back with the whole keyset what
// it made.
func (p Purpose) exercise(handle *keyset.Handle, keyID uint32) error {
	manager := keyset.NewManagerFromHandle(handle)
	if err := manager.SetPrimary(keyID); err != nil {
		return err
	}
	alone, err := manager.Handle()
	if err != nil {
		return err
	}
	switch p {
	case Deterministic:
		return exerciseDeterministic(alone, handle)
	case PRF:
		return exercisePRF(alone, handle, keyID)
	default:
		return exerciseAEAD(alone, handle)
	}
}

var plaintext, associated = []byte("fieldveil"), []byte("verify")

func exerciseAEAD(sealing, opening *keyset.Handle) error {
	sealer, err := aead.New(sealing)
	if err != nil {
		return err
	}
	opener, err := aead.New(opening)
	if err != nil {
		return err
	}
	sealed, err := sealer.Encrypt(plaintext, associated)
	if err != nil {
		return err
	}
	opened, err := opener.Decrypt(sealed, associated)
	return same(opened, plaintext, err)
}

func exerciseDeterministic(sealing, opening *keyset.Handle) error {
	sealer, err := daead.New(sealing)
	if err != nil {
		return err
	}
	opener, err := daead.New(opening)
	if err != nil {
		return err
	}
	sealed, err := sealer.EncryptDeterministically(plaintext, associated)
	if err != nil {
		return err
	}
	opened, err := opener.DecryptDeterministically(sealed, associated)
	return same(opened, plaintext, err)
}

// indexBytes is how much of a PRF an index takes; every PRF key gives as much.
const indexBytes = 16

func exercisePRF(one, all *keyset.Handle, keyID uint32) error {
	first, err := prf.NewPRFSet(one)
	if err != nil {
		return err
	}
	second, err := prf.NewPRFSet(all)
	if err != nil {
		return err
	}
	output, err := first.ComputePrimaryPRF(plaintext, indexBytes)
	if err != nil {
		return err
	}
	again, err := second.PRFs[keyID].ComputePRF(plaintext, indexBytes)
	return same(again, output, err)
}

func same(got, want []byte, err error) error {
	if err == nil && !bytes.Equal(got, want) {
		return errOtherOutput
	}
	return err
}
