// Package receipt attests that keys were destroyed: a statement of what, when and
// wrapped by which key-encryption key, with a Tink signature over its exact bytes.
//
// A receipt proves that who held the signing keyset stated it. That no other
// copy of the keys is left anywhere, nothing can prove.
package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/signature"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
	"github.com/fieldveil/fieldveil/keys/internal/strictjson"
)

// Type is what the statement of a receipt says of itself.
const Type = "fieldveil/destroyed/v1"

// typeIntent is what a destruction leaves that was cut short. It is signed, so
// that what is said to be destroyed in the end was said before; it is no receipt.
const typeIntent = "fieldveil/to-be-destroyed/v1"

// maxBytes bounds a receipt and a public keyset; the first names thousands of keys.
const maxBytes = 1 << 20

// Statement is what a receipt attests.
type Statement struct {
	Type        string    `json:"type"`
	Name        string    `json:"name"`
	Whole       bool      `json:"whole"` // the name with all its keysets, or some keys only
	Keysets     []Keyset  `json:"keysets"`
	KEKURI      string    `json:"kek_uri"`
	DestroyedAt time.Time `json:"destroyed_at"` // when it was gone from the disk; UTC, to the second
}

// intent is what is signed before anything is destroyed.
type intent struct {
	Type    string   `json:"type"`
	KEKURI  string   `json:"kek_uri"` // that the keysets opened with
	Folder  string   `json:"folder"`  // that of the keysets, so that another's is not taken for it
	Name    string   `json:"name"`
	Whole   bool     `json:"whole"`
	Keysets []Keyset `json:"keysets"`
}

// Keyset names the destroyed keys of one keyset.
type Keyset struct {
	Purpose keystore.Purpose `json:"purpose"`
	KeyIDs  []uint32         `json:"key_ids"`
}

// receipt is the file. The statement is a string, so that whatever writes the
// JSON in another layout leaves the signed bytes as they were.
type receipt struct {
	Statement string `json:"statement"`
	Signature []byte `json:"signature"`
}

// Public gives the public part of a signing keyset, in Tink's JSON form.
func Public(handle *keyset.Handle) ([]byte, error) {
	var written, compact bytes.Buffer
	public, err := handle.Public()
	if err == nil {
		err = public.WriteWithNoSecrets(keyset.NewJSONWriter(&written))
	}
	if err == nil {
		err = json.Compact(&compact, written.Bytes())
	}
	if err != nil {
		return nil, fault.Failure("public keyset", "it could not be serialized", "try again")
	}
	return append(compact.Bytes(), '\n'), nil
}

// Check verifies a receipt's file with a public keyset's file, and gives what it
// attests.
func Check(file, publicFile string) (*Statement, error) {
	text, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	publicText, err := readBounded(publicFile)
	if err != nil {
		return nil, err
	}
	handle, err := keyset.ReadWithNoSecrets(keyset.NewJSONReader(bytes.NewReader(publicText)))
	if err != nil {
		return nil, errNotPublic(publicFile)
	}
	verifier, err := signature.NewVerifier(handle)
	if err != nil {
		return nil, errNotPublic(publicFile)
	}
	return parse(file, text, verifier)
}

func errNotPublic(file string) error {
	return fault.Input(file, "not a public Tink signature keyset in JSON",
		"give what --public-out of fieldveil keys create-receipt-keyset wrote")
}

// parse gives what a receipt states.
func parse(file string, text []byte, verifier tink.Verifier) (*Statement, error) {
	stated, err := verified(file, text, verifier)
	if err != nil {
		return nil, err
	}
	if _, ok := parseIntent(stated); ok {
		return nil, fault.Input(file, "it states what was to be destroyed, and not that it was",
			"finish it by running the same fieldveil keys destroy again, which then writes the receipt")
	}
	var statement Statement
	if err := strictjson.Decode(stated, &statement); err != nil || statement.Type != Type {
		return nil, fault.Input(file, "it is signed, and no statement of a destruction that this version knows",
			"check it with the version that wrote it")
	}
	return &statement, nil
}

func parseIntent(stated []byte) (*intent, bool) {
	var read intent
	err := strictjson.Decode(stated, &read)
	return &read, err == nil && read.Type == typeIntent
}

// verified gives a statement's bytes, which nothing reads before.
func verified(file string, text []byte, verifier tink.Verifier) ([]byte, error) {
	var read receipt
	if err := strictjson.Decode(text, &read); err != nil {
		return nil, fault.Input(file, "not a receipt", "give the file that --receipt of fieldveil keys destroy wrote")
	}
	if err := verifier.Verify(read.Signature, []byte(read.Statement)); err != nil {
		return nil, fault.Input(file, "its signature is not of this keyset over this statement",
			"treat it as forged, unless another keyset signed it")
	}
	return []byte(read.Statement), nil
}

// sealStatement gives the text of a file with a signed statement.
func sealStatement(statement any, signer tink.Signer) ([]byte, error) {
	stated, err := json.Marshal(statement)
	if err != nil {
		return nil, err
	}
	signed, err := signer.Sign(stated)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(receipt{Statement: string(stated), Signature: signed})
	return append(text, '\n'), err
}

func readBounded(path string) ([]byte, error) {
	text, err := regularfile.Read(path, maxBytes)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(path, "there is no such file", "name one that is there")
	case errors.Is(err, regularfile.ErrTooLong), errors.Is(err, regularfile.ErrNotRegular), errors.Is(err, syscall.EISDIR):
		return nil, fault.Input(path, "not a file of at most 1 MiB", "name another")
	}
	return nil, fault.Unreadable(path, err)
}
