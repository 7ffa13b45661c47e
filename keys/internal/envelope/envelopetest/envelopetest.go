// Package envelopetest seals and opens envelopes with stock tink-go alone, to prove that what the filter stores is standard:
// tests compare it with the filter. It shares no code with the filter, and with package envelope the format's numbers.
package envelopetest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
)

// Keysets are the keysets of one name. Each may be nil.
type Keysets struct {
	AEAD          *keyset.Handle
	Deterministic *keyset.Handle
	PRF           *keyset.Handle
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
	return append(field.head(envelope.Version1), ciphertext...), err
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
	return append(field.head(envelope.Version1), ciphertext...), err
}

// SealIndexed seals with the AEAD keyset's primary key and puts the value's index
// before the ciphertext.
func (k Keysets) SealIndexed(field Field, plaintext []byte) ([]byte, error) {
	index, err := k.index(field, plaintext)
	if err != nil {
		return nil, err
	}
	if k.AEAD == nil {
		return nil, errors.New("there is no aead keyset")
	}
	primitive, err := aead.New(k.AEAD)
	if err != nil {
		return nil, err
	}
	ciphertext, err := primitive.Encrypt(plaintext, field.associatedData())
	return slices.Concat(field.head(envelope.Version2), index, ciphertext), err
}

// index is what equal values of one field share.
func (k Keysets) index(field Field, plaintext []byte) ([]byte, error) {
	if k.PRF == nil {
		return nil, errors.New("there is no prf keyset")
	}
	set, err := prf.NewPRFSet(k.PRF)
	if err != nil {
		return nil, err
	}
	input := "fieldveil/index/v1\x00" + field.Label + "\x00" + field.Tenant + "\x00" + string(plaintext)
	return set.ComputePrimaryPRF([]byte(input), envelope.IndexLength)
}

// Open opens an envelope, raw or armored. Which of the keysets it takes is told
// by the id of the key that sealed it. An index must be the value's.
func (k Keysets) Open(field Field, stored []byte) ([]byte, error) {
	raw, err := unarmor(stored)
	if err != nil {
		return nil, err
	}
	index, ciphertext, keyID, err := field.split(raw)
	if err != nil {
		return nil, err
	}
	plaintext, err := k.decrypt(field, ciphertext, keyID)
	if err != nil || index == nil {
		return plaintext, err
	}
	computed, err := k.index(field, plaintext)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(index, computed) {
		return nil, errors.New("its index is not the value's")
	}
	return plaintext, nil
}

func (k Keysets) decrypt(field Field, ciphertext []byte, keyID uint32) ([]byte, error) {
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
	return envelope.ArmorPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

func unarmor(stored []byte) ([]byte, error) {
	text, armored := strings.CutPrefix(string(stored), envelope.ArmorPrefix)
	if !armored {
		return stored, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errors.New("what follows " + envelope.ArmorPrefix + " is not unpadded base64url")
	}
	return raw, nil
}

// split checks an envelope's head and gives its index, if its version has one,
// and its Tink part.
func (f Field) split(raw []byte) (index, ciphertext []byte, keyID uint32, err error) {
	fail := func(reason string) ([]byte, []byte, uint32, error) { return nil, nil, 0, errors.New(reason) }
	switch {
	case len(raw) < envelope.HeadLength+envelope.PrefixLength:
		return fail("too short for an envelope")
	case raw[0] != envelope.Magic:
		return fail("not an envelope: it does not begin with the magic byte")
	case raw[1] != envelope.Version1 && raw[1] != envelope.Version2:
		return fail(fmt.Sprintf("envelope version %d is not known here", raw[1]))
	case !bytes.Equal(raw[:envelope.HeadLength], f.head(raw[1])):
		return fail("the envelope is of another label than " + f.Label)
	}
	ciphertext = raw[envelope.HeadLength:]
	if raw[1] == envelope.Version2 {
		if len(ciphertext) < envelope.IndexLength+envelope.PrefixLength {
			return fail("too short for an envelope with an index")
		}
		index, ciphertext = ciphertext[:envelope.IndexLength], ciphertext[envelope.IndexLength:]
	}
	if ciphertext[0] != envelope.TinkPrefix {
		return fail("its ciphertext has not Tink's output prefix")
	}
	return index, ciphertext, binary.BigEndian.Uint32(ciphertext[1:envelope.PrefixLength]), nil
}

func (f Field) head(version byte) []byte {
	tag := envelope.TagOf(f.Label)
	return append([]byte{envelope.Magic, version}, tag[:]...)
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

// NewKeysets makes keysets of one key each.
func NewKeysets(t *testing.T) Keysets {
	t.Helper()
	return Keysets{AEAD: handle(t, aead.AES256GCMKeyTemplate()), Deterministic: handle(t, daead.AESSIVKeyTemplate()), PRF: handle(t, prf.HMACSHA256PRFKeyTemplate())}
}

func handle(t *testing.T, template *tinkpb.KeyTemplate) *keyset.Handle {
	t.Helper()
	h, err := keyset.NewHandle(template)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
