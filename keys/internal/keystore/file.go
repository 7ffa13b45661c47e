package keystore

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
	"google.golang.org/protobuf/proto"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// MaxFileBytes bounds a keyset file. A key takes some 200 bytes in it, so this
// is ample room for the most keys that it may have.
const MaxFileBytes = 1 << 20

const restore = "restore the file from a backup, or move it away"

// File is one encrypted keyset as it lies on disk.
type File struct {
	Name    string
	Purpose Purpose
	Path    string
	Text    []byte // the whole file: ciphertext, and key ids in clear

	encrypted *tinkpb.EncryptedKeyset
	meta      meta
}

// Read reads a keyset's file, without opening it.
func (s *Store) Read(name string, purpose Purpose) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := readKeyset(s.path(name, purpose), purpose)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKeyset(s.path(name, purpose), name)
	}
	if err != nil {
		return nil, err
	}
	file.Name = name
	// A keyset serves on without it; who verifies reads it with its fault.
	file.meta, _ = s.readMeta(name)
	return file, nil
}

// ReadAll reads the keysets of a name, without opening them.
func (s *Store) ReadAll(name string) ([]*File, error) {
	purposes, err := s.PurposesOf(name)
	if err != nil {
		return nil, err
	}
	if len(purposes) == 0 {
		return nil, errNoKeyset(s.path(name, AEAD), name)
	}
	var files []*File
	for _, purpose := range purposes {
		file, err := s.Read(name, purpose)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// Backups are the paths of the file's former texts, the oldest first.
func (f *File) Backups() ([]string, error) { return backupsOf(f.Path) }

// readKeyset gives fs.ErrNotExist as it is: what is missing, its caller knows.
func readKeyset(path string, purpose Purpose) (*File, error) {
	text, err := regularfile.Read(path, MaxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case errors.Is(err, regularfile.ErrTooLong):
		return nil, fault.Input(path, "longer than a keyset file can be (1 MiB)", restore)
	case err != nil:
		return nil, errNotRead(path, err)
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
	return &File{Purpose: purpose, Path: path, Text: text, encrypted: encrypted}, nil
}

func errNoKeyset(path, name string) error {
	return fault.Input(path, "there is no such keyset",
		"see the names with: fieldveil keys list; or make it with: fieldveil keys create "+name)
}

// Info is what the file says of its keys in clear. It is a statement and no
// proof: only opening the keyset authenticates it.
func (f *File) Info() *tinkpb.KeysetInfo { return f.encrypted.GetKeysetInfo() }

// Created is when a key of the keyset was made, to the second, if that is known:
// keys that other tools made have no such time.
func (f *File) Created(keyID uint32) (time.Time, bool) { return f.meta.created(f.Purpose, keyID) }

// KEKURI names the key-encryption key that wraps the keyset, if that is noted of
// this very text. It is a note and no proof.
func (f *File) KEKURI() (string, bool) { return f.meta.kekURI(f.Purpose, f.Text) }

// Open decrypts the keyset and checks that the filter can use every key in it.
func (f *File) Open(kek tink.AEAD) (*keyset.Handle, error) {
	// In Tink's own two steps, to tell a key-encryption key that does not fit from
	// a keyset that can't be used.
	serialized, err := kek.Decrypt(f.encrypted.GetEncryptedKeyset(), []byte{})
	if err != nil {
		return nil, f.notDecrypted(err)
	}
	var cleartext tinkpb.Keyset
	if err := proto.Unmarshal(serialized, &cleartext); err != nil {
		return nil, fault.Input(f.Path, "what it holds is no Tink keyset", restore)
	}
	if err := f.Purpose.check(&cleartext); err != nil {
		return nil, fault.Input(f.Path, err.Error(), "make keysets with: fieldveil keys create")
	}
	handle, err := insecurecleartextkeyset.Read(&keyset.MemReaderWriter{Keyset: &cleartext})
	if err != nil {
		// Parser messages may quote key bytes, so they are not passed on.
		return nil, fault.Input(f.Path, "one of its keys is malformed", restore)
	}
	return handle, nil
}

// notDecrypted tells a KMS that does not answer, which says so itself, from one
// whose key does not fit.
func (f *File) notDecrypted(err error) error {
	var said *fault.Fault
	if errors.As(err, &said) {
		return said.At(f.Path)
	}
	return fault.Input(f.Path, "the key-encryption key does not open it ("+err.Error()+")",
		"give the key-encryption key that it was made with, or "+restore)
}

// encrypt gives the text of a keyset's file, and has opened it once before it
// gives it: a keyset that can't be opened again is data that can't be.
func encrypt(handle *keyset.Handle, kek tink.AEAD, path string) ([]byte, error) {
	var written, compact bytes.Buffer
	asked := &asked{AEAD: kek}
	if err := handle.Write(keyset.NewJSONWriter(&written), asked); err != nil {
		if asked.said != nil {
			return nil, asked.said.At(path)
		}
		return nil, fault.Failure(path, "the key-encryption key did not wrap it ("+err.Error()+")",
			"see that the KMS allows to encrypt with this key")
	}
	if err := json.Compact(&compact, written.Bytes()); err != nil {
		return nil, fault.Failure(path, "the keyset could not be serialized", "try again")
	}
	compact.WriteByte('\n')
	if _, err := keyset.Read(keyset.NewJSONReader(bytes.NewReader(compact.Bytes())), asked); err != nil {
		if asked.said != nil {
			return nil, asked.said.At(path)
		}
		return nil, fault.Failure(path, "the key-encryption key does not open what it wrapped ("+err.Error()+")",
			"see that the KMS allows to decrypt with this key")
	}
	return compact.Bytes(), nil
}

// asked keeps what a KMS says itself of why it does not do it: Tink passes on
// the text of it alone.
type asked struct {
	tink.AEAD
	said *fault.Fault
}

func (a *asked) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	output, err := a.AEAD.Encrypt(plaintext, associatedData)
	errors.As(err, &a.said)
	return output, err
}

func (a *asked) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	output, err := a.AEAD.Decrypt(ciphertext, associatedData)
	errors.As(err, &a.said)
	return output, err
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
