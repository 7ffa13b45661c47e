// Package envelope seals and opens Fieldveil envelopes, version 1, with stock
// tink-go alone. It exists to prove that what the filter stores is standard:
// tests compare it with the filter. It shares no code with the filter.
//
//	envelope  = magic version label-tag tink-ciphertext
//	magic     = %xF7
//	version   = %x01
//	label-tag = 4OCTET   ; first 4 bytes of SHA-256("fieldveil label\0" label)
//
// The associated data is "fieldveil/v1" 0x00 label 0x00 tenant. The armored form,
// for text columns, is "fv1." and unpadded base64url of the envelope.
package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

const (
	magic      = 0xF7
	version1   = 0x01
	tagLength  = 4
	headLength = 2 + tagLength
	// prefixLength is of Tink's output prefix: 0x01 and the key id, big-endian.
	prefixLength = 5
	tinkPrefix   = 0x01

	armorPrefix = "fv1."
)

// Keysets are the keysets of one name. Either may be nil.
type Keysets struct {
	AEAD          *keyset.Handle
	Deterministic *keyset.Handle
}

// Field is what an envelope is bound to.
type Field struct{ Label, Tenant string }

// SealRandomized seals with the AEAD keyset's primary key.
func (k Keysets) SealRandomized(field Field, plaintext []byte) ([]byte, error) {
	if k.AEAD == nil {
		return nil, errors.New("there is no aead keyset")
	}
	primitive, err := aead.New(k.AEAD)
	if err != nil {
		return nil, err
	}
	ciphertext, err := primitive.Encrypt(plaintext, field.associatedData())
	return append(field.head(), ciphertext...), err
}

// SealDeterministic seals with the deterministic keyset's primary key: equal
// plaintexts of one field give equal envelopes.
func (k Keysets) SealDeterministic(field Field, plaintext []byte) ([]byte, error) {
	if k.Deterministic == nil {
		return nil, errors.New("there is no deterministic keyset")
	}
	primitive, err := daead.New(k.Deterministic)
	if err != nil {
		return nil, err
	}
	ciphertext, err := primitive.EncryptDeterministically(plaintext, field.associatedData())
	return append(field.head(), ciphertext...), err
}

// Open opens an envelope, raw or armored. Which of the keysets it takes is told
// by the id of the key that sealed it.
func (k Keysets) Open(field Field, stored []byte) ([]byte, error) {
	raw, err := unarmor(stored)
	if err != nil {
		return nil, err
	}
	ciphertext, keyID, err := field.ciphertext(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case holds(k.AEAD, keyID):
		primitive, err := aead.New(k.AEAD)
		if err != nil {
			return nil, err
		}
		return primitive.Decrypt(ciphertext, field.associatedData())
	case holds(k.Deterministic, keyID):
		primitive, err := daead.New(k.Deterministic)
		if err != nil {
			return nil, err
		}
		return primitive.DecryptDeterministically(ciphertext, field.associatedData())
	}
	return nil, fmt.Errorf("no keyset has key %d, which sealed it", keyID)
}

// Armor is the form of an envelope in a text column.
func Armor(raw []byte) string {
	return armorPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

func unarmor(stored []byte) ([]byte, error) {
	text, armored := strings.CutPrefix(string(stored), armorPrefix)
	if !armored {
		return stored, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errors.New("what follows " + armorPrefix + " is not unpadded base64url")
	}
	return raw, nil
}

// ciphertext checks an envelope's head and gives its Tink part.
func (f Field) ciphertext(raw []byte) (ciphertext []byte, keyID uint32, err error) {
	switch {
	case len(raw) < headLength+prefixLength:
		return nil, 0, errors.New("too short for an envelope")
	case raw[0] != magic:
		return nil, 0, errors.New("not an envelope: it does not begin with the magic byte")
	case raw[1] != version1:
		return nil, 0, fmt.Errorf("envelope version %d is not known here", raw[1])
	case !bytes.Equal(raw[:headLength], f.head()):
		return nil, 0, errors.New("the envelope is of another label than " + f.Label)
	case raw[headLength] != tinkPrefix:
		return nil, 0, errors.New("its ciphertext has not Tink's output prefix")
	}
	ciphertext = raw[headLength:]
	return ciphertext, binary.BigEndian.Uint32(ciphertext[1:prefixLength]), nil
}

func (f Field) head() []byte {
	digest := sha256.Sum256([]byte("fieldveil label\x00" + f.Label))
	return append([]byte{magic, version1}, digest[:tagLength]...)
}

func (f Field) associatedData() []byte {
	return []byte("fieldveil/v1\x00" + f.Label + "\x00" + f.Tenant)
}

func holds(handle *keyset.Handle, keyID uint32) bool {
	if handle == nil {
		return false
	}
	for _, key := range handle.KeysetInfo().GetKeyInfo() {
		if key.GetKeyId() == keyID {
			return true
		}
	}
	return false
}
