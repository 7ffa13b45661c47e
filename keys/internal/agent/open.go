package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// openKeyset is the keysets of one name, in clear.
type openKeyset struct {
	digest   [sha256.Size]byte // of the encrypted files, so it tells nothing of the keys
	purposes map[keystore.Purpose]openPurpose
}

type openPurpose struct {
	cleartext    json.RawMessage // Tink's JSON form of a cleartext keyset
	primaryKeyID uint32
	keyIDs       []uint32
}

// String keeps key material out of logs, whatever prints it.
func (*openKeyset) String() string { return "openKeyset(redacted)" }

// GoString does the same for %#v.
func (k *openKeyset) GoString() string { return k.String() }

// opening is what one attempt to open a folder's keysets gave.
type opening struct {
	opened   map[string]*openKeyset
	problems map[string]error // of the names that are there and did not open
	folder   error            // why nothing could be tried at all
	ignored  []string         // files whose names are not understood
}

// openAll opens every keyset of the folder, one after the other: a KMS sees one
// call at a time from each agent.
func openAll(store *keystore.Store, openKEK func() (tink.AEAD, error)) *opening {
	result := &opening{opened: map[string]*openKeyset{}, problems: map[string]error{}}
	listing, err := store.List()
	if err != nil {
		result.folder = err
		return result
	}
	result.ignored = listing.Ignored
	if len(listing.Names) == 0 {
		result.folder = fault.Failure(store.Folder(), "it holds no keyset", "make one with: fieldveil keys create NAME")
		return result
	}
	kek, err := openKEK()
	if err != nil {
		result.folder = err
		return result
	}
	for _, name := range listing.Names {
		opened, err := openName(store, name, listing.Purposes[name], kek)
		if err != nil {
			result.problems[name] = err
			continue
		}
		result.opened[name] = opened
	}
	return result
}

// openName opens the keysets of one name, all of them or none: half a name
// would make values unreadable by their protection.
func openName(store *keystore.Store, name string, purposes []keystore.Purpose, kek tink.AEAD) (*openKeyset, error) {
	digest := sha256.New()
	opened := &openKeyset{purposes: map[keystore.Purpose]openPurpose{}}
	for _, purpose := range purposes {
		file, err := store.Read(name, purpose)
		if err != nil {
			return nil, err
		}
		handle, err := file.Open(kek)
		if err != nil {
			return nil, err
		}
		if opened.purposes[purpose], err = cleartext(handle); err != nil {
			return nil, fault.Failure(file.Path, err.Error(), "report this")
		}
		writeFramed(digest, []byte(purpose))
		writeFramed(digest, file.Text)
	}
	digest.Sum(opened.digest[:0])
	return opened, nil
}

func cleartext(handle *keyset.Handle) (openPurpose, error) {
	var written, compact bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&written)); err != nil {
		return openPurpose{}, errors.New("the keyset could not be serialized")
	}
	// Tink's writer spaces its JSON at random; an ETag is a promise of equal bytes.
	if err := json.Compact(&compact, written.Bytes()); err != nil {
		return openPurpose{}, errors.New("the keyset could not be serialized")
	}
	info := handle.KeysetInfo()
	purpose := openPurpose{cleartext: compact.Bytes(), primaryKeyID: info.GetPrimaryKeyId()}
	for _, key := range info.GetKeyInfo() {
		purpose.keyIDs = append(purpose.keyIDs, key.GetKeyId())
	}
	return purpose, nil
}

// writeFramed writes a part with its length, so that parts can't run together.
func writeFramed(w io.Writer, part []byte) {
	fmt.Fprintf(w, "%d:", len(part))
	w.Write(part)
}
