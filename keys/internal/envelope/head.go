// Package envelope reads the heads of Fieldveil envelopes, which needs no key.
//
//	envelope  = magic version label-tag [index] tink-ciphertext
//	magic     = %xF7
//	version   = %x01 / %x02   ; with an index
//	label-tag = 4OCTET        ; first 4 bytes of SHA-256("fieldveil label\0" label)
//	index     = 16OCTET       ; first 16 bytes of the PRF over the index input
//
// The index input is "fieldveil/index/v1" 0x00 label 0x00 tenant 0x00 plaintext.
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
)

// The numbers of the format.
const (
	Magic      = 0xF7
	Version1   = 0x01
	Version2   = 0x02
	tagLength  = 4
	HeadLength = 2 + tagLength
	// IndexLength is of a blind index, which only version 2 has.
	IndexLength = 16
	// PrefixLength is of Tink's output prefix: 0x01 and the key id, big-endian.
	PrefixLength = 5
	TinkPrefix   = 0x01
	// MinCiphertext is of every key type: a synthetic IV, or an IV and a tag.
	MinCiphertext = 16

	ArmorPrefix = "fv1."
)

// Tag is the label tag of an envelope.
type Tag [tagLength]byte

// TagOf is the tag of a label's envelopes.
func TagOf(label string) Tag {
	digest := sha256.Sum256([]byte("fieldveil label\x00" + label))
	return Tag(digest[:tagLength])
}

// Head is what an envelope says of itself without any key. It is a statement and
// no proof: only opening the Tink part proves who wrote it.
type Head struct {
	Indexed bool // version 2
	Tag     Tag
	KeyID   uint32
}

// ErrPlaintext says that what is stored never was an envelope.
var ErrPlaintext = errors.New("not an envelope")

// ReadHead reads a stored value: raw, as in a bytea column, or armored, as in a
// text column. A value that does not begin as an envelope does is ErrPlaintext;
// one that begins so and is none has another error. No error quotes the value.
func ReadHead(stored []byte, raw bool) (Head, error) {
	if !raw {
		text, armored := strings.CutPrefix(string(stored), ArmorPrefix)
		if !armored {
			return Head{}, ErrPlaintext
		}
		var err error
		if stored, err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil {
			return Head{}, errors.New("what follows " + ArmorPrefix + " is not unpadded base64url")
		}
	}
	return readRawHead(stored, !raw)
}

func readRawHead(stored []byte, armored bool) (Head, error) {
	switch {
	case !armored && !bytes.HasPrefix(stored, []byte{Magic}):
		return Head{}, ErrPlaintext
	case len(stored) < HeadLength || stored[0] != Magic:
		return Head{}, errors.New("not an envelope, though it begins as one")
	case stored[1] != Version1 && stored[1] != Version2:
		return Head{}, fmt.Errorf("envelope version %d is not known here", stored[1])
	}
	head := Head{Indexed: stored[1] == Version2, Tag: Tag(stored[2:HeadLength])}
	ciphertext := stored[HeadLength:]
	if head.Indexed {
		ciphertext = ciphertext[min(IndexLength, len(ciphertext)):]
	}
	if len(ciphertext) < PrefixLength+MinCiphertext || ciphertext[0] != TinkPrefix {
		return Head{}, errors.New("a truncated envelope")
	}
	head.KeyID = binary.BigEndian.Uint32(ciphertext[1:PrefixLength])
	return head, nil
}
