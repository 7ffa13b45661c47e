package keystore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
	"github.com/fieldveil/fieldveil/keys/internal/strictjson"
)

// metaKind names the file beside a name's keysets that says when each key was
// made, and which key-encryption key wraps them. Tink's keysets have no place for
// it, and its readers refuse a member of the JSON that they do not know, so it can
// not lie in the keyset's own file. Nothing depends on it but what is shown: it is
// not authenticated.
const metaKind = "meta"

// meta is the content of NAME.meta.json.
type meta struct {
	Created map[Purpose]map[uint32]time.Time `json:"created"`
	Wrapped map[Purpose]wrapping             `json:"wrapped,omitempty"`
}

// wrapping says which key-encryption key wraps one text of a keyset's file. Of
// another text, which another tool wrote or a backup brought back, it says nothing.
type wrapping struct {
	KEKURI     string `json:"kek_uri"`
	FileSHA256 string `json:"file_sha256"`
}

// Named is a key-encryption key that knows its key URI.
type Named interface {
	tink.AEAD
	KeyURI() string
}

// created is when a key was made, if that is known.
func (m meta) created(purpose Purpose, keyID uint32) (time.Time, bool) {
	at, known := m.Created[purpose][keyID]
	return at, known
}

func (m *meta) add(purpose Purpose, keyID uint32, at time.Time) {
	if m.Created == nil {
		m.Created = map[Purpose]map[uint32]time.Time{}
	}
	if m.Created[purpose] == nil {
		m.Created[purpose] = map[uint32]time.Time{}
	}
	m.Created[purpose][keyID] = at.UTC().Truncate(time.Second)
}

// wrap notes by which key-encryption key a file's text is wrapped.
func (m *meta) wrap(purpose Purpose, kek tink.AEAD, text []byte) {
	delete(m.Wrapped, purpose)
	named, ok := kek.(Named)
	if !ok {
		return
	}
	if m.Wrapped == nil {
		m.Wrapped = map[Purpose]wrapping{}
	}
	m.Wrapped[purpose] = wrapping{KEKURI: named.KeyURI(), FileSHA256: digest(text)}
}

// kekURI is the key URI that is noted for a file's text.
func (m meta) kekURI(purpose Purpose, text []byte) (string, bool) {
	noted, ok := m.Wrapped[purpose]
	return noted.KEKURI, ok && noted.FileSHA256 == digest(text)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (m *meta) forget(purpose Purpose, keyID uint32) { delete(m.Created[purpose], keyID) }

// text can't fail: it has only names, numbers and times of our own.
func (m meta) text() []byte {
	text, _ := json.Marshal(m)
	return append(text, '\n')
}

// readMeta reads what is known of a name's keys. That nothing is known is no
// fault: keysets of other tools, and earlier ones, have no such file.
func (s *Store) readMeta(name string) (meta, error) {
	var read meta
	if name == "" { // a file of its own, and no name's
		return read, nil
	}
	path := s.file(name, metaKind)
	text, err := regularfile.Read(path, MaxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return read, nil
	case errors.Is(err, regularfile.ErrTooLong), err == nil && strictjson.Decode(text, &read) != nil:
		return meta{}, fault.Input(path, "not what fieldveil writes of when keys were made",
			"restore it, or remove it: the age of the keys is then unknown")
	case err != nil:
		return meta{}, errNotRead(path, err)
	}
	return read, nil
}
