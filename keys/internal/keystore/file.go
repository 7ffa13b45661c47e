package keystore

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// MaxFileBytes bounds a keyset file. A key takes some 200 bytes in it, so this
// is room for thousands of rotations.
const MaxFileBytes = 1 << 20

const restore = "restore the file from a backup, or move it away"

// File is one encrypted keyset as it lies on disk.
type File struct {
	Name    string
	Purpose Purpose
	Path    string
	Text    []byte // the whole file: ciphertext, and key ids in clear

	encrypted *tinkpb.EncryptedKeyset
}

// Read reads a keyset's file, without opening it.
func (s *Store) Read(name string, purpose Purpose) (*File, error) {
	path := s.path(name, purpose)
	text, err := readBounded(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNoKeyset(path, name)
	case errors.Is(err, errTooLong):
		return nil, fault.Input(path, "longer than a keyset file can be (1 MiB)", restore)
	case err != nil:
		return nil, fault.Failure(path, fault.Cause(err), "make the file readable")
	}
	// Parser messages may quote key bytes, so they are not passed on.
	encrypted, err := keyset.NewJSONReader(bytes.NewReader(text)).ReadEncrypted()
	switch {
	case err != nil && isCleartext(text):
		return nil, fault.Input(path, "holds a keyset in clear text",
			"move it away, treat its keys as disclosed, and make a new keyset with: fieldveil keys create")
	case err != nil || len(encrypted.GetEncryptedKeyset()) == 0:
		return nil, fault.Input(path, "not a Tink encrypted keyset in JSON", restore)
	}
	return &File{Name: name, Purpose: purpose, Path: path, Text: text, encrypted: encrypted}, nil
}

func errNoKeyset(path, name string) error {
	return fault.Input(path, "there is no such keyset",
		"see the names with: fieldveil keys list; or make it with: fieldveil keys create "+name)
}

// Info is what the file says of its keys in clear. It is a statement and no
// proof: only opening the keyset authenticates it.
func (f *File) Info() *tinkpb.KeysetInfo { return f.encrypted.GetKeysetInfo() }

// Open decrypts the keyset and checks that the filter can use every key in it.
func (f *File) Open(kek tink.AEAD) (*keyset.Handle, error) {
	handle, err := keyset.Read(&keyset.MemReaderWriter{EncryptedKeyset: f.encrypted}, kek)
	if err != nil {
		return nil, fault.Input(f.Path, "the key-encryption key does not open it ("+err.Error()+")",
			"give the key-encryption key that it was made with, or "+restore)
	}
	if err := f.Purpose.check(handle.KeysetInfo()); err != nil {
		return nil, fault.Input(f.Path, err.Error(), "make keysets with: fieldveil keys create")
	}
	return handle, nil
}

// encrypt gives the text of a keyset's file, and has opened it once before it
// gives it: a keyset that can't be opened again is data that can't be.
func encrypt(handle *keyset.Handle, kek tink.AEAD, path string) ([]byte, error) {
	var written, compact bytes.Buffer
	if err := handle.Write(keyset.NewJSONWriter(&written), kek); err != nil {
		return nil, fault.Failure(path, "the key-encryption key did not wrap it ("+err.Error()+")",
			"see that the KMS allows to encrypt with this key")
	}
	if err := json.Compact(&compact, written.Bytes()); err != nil {
		return nil, fault.Failure(path, "the keyset could not be serialized", "try again")
	}
	compact.WriteByte('\n')
	if _, err := keyset.Read(keyset.NewJSONReader(bytes.NewReader(compact.Bytes())), kek); err != nil {
		return nil, fault.Failure(path, "the key-encryption key does not open what it wrapped ("+err.Error()+")",
			"see that the KMS allows to decrypt with this key")
	}
	return compact.Bytes(), nil
}

var errTooLong = errors.New("too long")

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err == nil && len(text) > MaxFileBytes {
		return nil, errTooLong
	}
	return text, err
}

// isCleartext tells the most dangerous mistake from a merely broken file.
func isCleartext(text []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	_, camel := members["primaryKeyId"]
	_, snake := members["primary_key_id"]
	return camel || snake
}
