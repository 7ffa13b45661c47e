package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

type digest [sha256.Size]byte

// wrapped is the encrypted keysets of one name as they lay in the folder. It
// holds no key material.
type wrapped struct {
	files  []*keystore.File
	digest digest // of the files, so it tells nothing of the keys
}

// readWrapped reads the files of one name, all of them or none: half a name
// would make values unreadable by their protection.
func readWrapped(store *keystore.Store, name string, purposes []keystore.Purpose) (*wrapped, error) {
	w := &wrapped{}
	for _, purpose := range purposes {
		file, err := store.Read(name, purpose)
		if err != nil {
			return nil, err
		}
		w.files = append(w.files, file)
	}
	w.digest = digestOf(w.files)
	return w, nil
}

// created is when a key was made, where the folder says so. It can be said later
// than the keyset changes, so it is no part of the digest.
func (w *wrapped) created(purpose keystore.Purpose, keyIDs []uint32) map[uint32]time.Time {
	created := map[uint32]time.Time{}
	for _, file := range w.files {
		for _, keyID := range keyIDs {
			if at, known := file.Created(keyID); known && file.Purpose == purpose {
				created[keyID] = at
			}
		}
	}
	return created
}

// among gives what is left when only these purposes are still there.
func (w *wrapped) among(purposes []keystore.Purpose) *wrapped {
	left := &wrapped{}
	for _, file := range w.files {
		if slices.Contains(purposes, file.Purpose) {
			left.files = append(left.files, file)
		}
	}
	left.digest = digestOf(left.files)
	return left
}

func digestOf(files []*keystore.File) (d digest) {
	hash := sha256.New()
	for _, file := range files {
		writeFramed(hash, []byte(file.Purpose))
		writeFramed(hash, file.Text)
	}
	hash.Sum(d[:0])
	return d
}

// open asks the KMS once a file.
func (w *wrapped) open(kek tink.AEAD) (openKeyset, error) {
	opened := openKeyset{}
	for _, file := range w.files {
		handle, err := file.Open(kek)
		if err != nil {
			opened.release()
			return nil, err
		}
		purpose, err := cleartext(handle, file)
		if err != nil {
			opened.release()
			return nil, fault.Failure(file.Path, err.Error(), "report this")
		}
		opened[file.Purpose] = purpose
	}
	return opened, nil
}

// openKeyset is the keysets of one name, in clear.
type openKeyset map[keystore.Purpose]openPurpose

type openPurpose struct {
	cleartext    *secret // Tink's JSON form of a cleartext keyset
	primaryKeyID uint32
	keyIDs       []uint32
}

func (k openKeyset) hold() {
	for _, purpose := range k {
		purpose.cleartext.hold()
	}
}

func (k openKeyset) release() {
	for _, purpose := range k {
		purpose.cleartext.release()
	}
}

func cleartext(handle *keyset.Handle, file *keystore.File) (openPurpose, error) {
	failed := errors.New("the keyset could not be serialized")
	// Large enough that neither buffer grows, which would leave a copy behind.
	written := bytes.NewBuffer(make([]byte, 0, 4*len(file.Text)+4096))
	compact := bytes.NewBuffer(make([]byte, 0, 4*len(file.Text)+4096))
	wipe := func(b *bytes.Buffer) { clear(b.Bytes()[:b.Cap()]) }
	defer wipe(written)
	defer wipe(compact)
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(written)); err != nil {
		return openPurpose{}, failed
	}
	// Tink's writer spaces its JSON at random; an ETag is a promise of equal bytes.
	if err := json.Compact(compact, written.Bytes()); err != nil {
		return openPurpose{}, failed
	}
	held, err := newSecret(compact.Bytes())
	if err != nil {
		return openPurpose{}, fmt.Errorf("no memory for it (%w)", err)
	}
	info := handle.KeysetInfo()
	purpose := openPurpose{cleartext: held, primaryKeyID: info.GetPrimaryKeyId()}
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
