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

// minCiphertext is of every key type: a synthetic IV, or an IV and a tag.
const minCiphertext = 16

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
		text, armored := strings.CutPrefix(string(stored), armorPrefix)
		if !armored {
			return Head{}, ErrPlaintext
		}
		var err error
		if stored, err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil {
			return Head{}, errors.New("what follows " + armorPrefix + " is not unpadded base64url")
		}
	}
	return readRawHead(stored, !raw)
}

func readRawHead(stored []byte, armored bool) (Head, error) {
	switch {
	case !armored && !bytes.HasPrefix(stored, []byte{magic}):
		return Head{}, ErrPlaintext
	case len(stored) < headLength || stored[0] != magic:
		return Head{}, errors.New("not an envelope, though it begins as one")
	case stored[1] != version1 && stored[1] != version2:
		return Head{}, fmt.Errorf("envelope version %d is not known here", stored[1])
	}
	head := Head{Indexed: stored[1] == version2, Tag: Tag(stored[2:headLength])}
	ciphertext := stored[headLength:]
	if head.Indexed {
		ciphertext = ciphertext[min(indexLength, len(ciphertext)):]
	}
	if len(ciphertext) < prefixLength+minCiphertext || ciphertext[0] != tinkPrefix {
		return Head{}, errors.New("a truncated envelope")
	}
	head.KeyID = binary.BigEndian.Uint32(ciphertext[1:prefixLength])
	return head, nil
}
