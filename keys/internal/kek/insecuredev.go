package kek

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// InsecureDevPrefix starts the key URI of a development key-encryption key: a
// cleartext Tink keyset in a file. Whoever reads that file opens every keyset.
const InsecureDevPrefix = "insecure-dev-kek://"

const createDevKEK = "make one with: fieldveil keys create-insecure-dev-kek --out FILE"

// maxDevKEKBytes is far above the some 300 bytes of a keyset with one key.
const maxDevKEKBytes = 64 << 10

var insecureDev = provider{
	prefix:    InsecureDevPrefix,
	form:      InsecureDevPrefix + "FILE (INSECURE, for development only: a key in clear text)",
	newClient: newInsecureDevClient,
}

// InsecureDevURI is the key URI of a development key-encryption key in a file.
func InsecureDevURI(file string) string { return InsecureDevPrefix + file }

type insecureDevClient struct{ keyURI string }

func newInsecureDevClient(keyURI string) (registry.KMSClient, error) {
	if keyURI == InsecureDevPrefix {
		return nil, fault.Input("key URI "+keyURI, "it names no file", "write the file's path after the //")
	}
	return &insecureDevClient{keyURI: keyURI}, nil
}

func (c *insecureDevClient) Supported(keyURI string) bool { return keyURI == c.keyURI }

func (c *insecureDevClient) GetAEAD(keyURI string) (tink.AEAD, error) {
	if !c.Supported(keyURI) {
		return nil, errOtherKey(keyURI)
	}
	file := strings.TrimPrefix(keyURI, InsecureDevPrefix)
	text, err := readDevKEK(file)
	if err != nil {
		return nil, err
	}
	// Parser messages may quote key bytes, so they are not passed on.
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, fault.Input(file, "not a cleartext Tink keyset in JSON", createDevKEK)
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fault.Input(file, "its keys are not AEAD keys", createDevKEK)
	}
	return primitive, nil
}

func readDevKEK(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(file, "there is no such key-encryption key file", createDevKEK)
	case err != nil:
		return nil, fault.Unreadable(file, err)
	case !info.Mode().IsRegular() || info.Size() > maxDevKEKBytes:
		return nil, fault.Input(file, "not a key-encryption key file", createDevKEK)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Unreadable(file, err)
	}
	return text, nil
}

// CreateInsecureDev writes a new development key-encryption key (AES256-GCM) to
// a new file, mode 0600. An existing file is never replaced: the keysets that
// it wraps would be lost.
func CreateInsecureDev(file string) error {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fault.Failure(file, "no key could be made: "+err.Error(), "try again")
	}
	var written, compact bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&written)); err != nil {
		return fault.Failure(file, "the key could not be serialized", "try again")
	}
	if err := json.Compact(&compact, written.Bytes()); err != nil {
		return fault.Failure(file, "the key could not be serialized", "try again")
	}
	compact.WriteByte('\n')
	atomicfile.Sweep(file)
	err = atomicfile.Create(file, compact.Bytes())
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.Input(file, "the file exists already", "choose another name, or move it away if no keyset is wrapped by it")
	case errors.Is(err, fs.ErrNotExist):
		return fault.NoFolder(file)
	case err != nil:
		return fault.Unwritable(file, err)
	}
	return nil
}
