package keystore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/keyset"
	tinksignature "github.com/tink-crypto/tink-go/v2/signature"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Signature is the purpose of a keyset that signs receipts. It is a file of its
// own and not one of a name's: agents have no use for it.
const Signature Purpose = "signature"

// CreateSignature makes a keyset with one Ed25519 key in a new file, and beside
// it, in another, what public makes of it: both or none.
func CreateSignature(
	path, publicPath string, public func(*keyset.Handle) ([]byte, error), kek tink.AEAD, announce func(),
) (keyID uint32, err error) {
	atomicfile.Sweep(path)
	atomicfile.Sweep(publicPath)
	if err := checkNew(path); err != nil {
		return 0, errNotCreated(path, err)
	}
	if err := checkNew(publicPath); err != nil {
		return 0, errAlone(path, publicPath, err)
	}
	handle, err := keyset.NewHandle(tinksignature.ED25519KeyTemplate())
	if err != nil {
		return 0, fault.Failure(path, "no key could be made: "+err.Error(), "try again")
	}
	publicText, err := public(handle)
	if err != nil {
		return 0, err
	}
	text, err := encrypt(handle, kek, path)
	if err != nil {
		return 0, err
	}
	announce()
	// The public half first: nothing that signs is ever there without it.
	if err := atomicfile.Create(publicPath, publicText); err != nil {
		return 0, errNotCreated(publicPath, err)
	}
	if err := atomicfile.Create(path, text); err != nil {
		os.Remove(publicPath)
		return 0, errNotCreated(path, err)
	}
	return handle.KeysetInfo().GetPrimaryKeyId(), nil
}

func checkNew(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	return nil
}

// errAlone says of a public half that is there without what signs what it may be:
// a run that was killed between the two files leaves it.
func errAlone(path, publicPath string, err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return errNotCreated(publicPath, err)
	}
	return fault.Input(publicPath, "the file exists already, and "+path+" does not",
		"remove it if a run that was cut short left it, and run the command again; or choose another name")
}

func errNotCreated(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.Input(path, "the file exists already", "choose another name")
	case errors.Is(err, fs.ErrNotExist):
		return fault.NoFolder(path)
	}
	return errNotWritten(path, err)
}

// ReadSignature reads a keyset that signs receipts, without opening it.
func ReadSignature(path string) (*File, error) {
	file, err := readKeyset(path, Signature)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Input(path, "there is no such keyset", "make one with: fieldveil keys create-receipt-keyset --out "+path)
	}
	return file, err
}

// RewrapSignature wraps such a keyset by another key-encryption key.
func RewrapSignature(path string, former, next tink.AEAD, announce func(*Change), said func(Rewrapped)) error {
	file, err := ReadSignature(path)
	if err != nil {
		return err
	}
	atomicfile.Sweep(path)
	store, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	store.Announce(announce)
	return store.rewrap([]*File{file}, former, next, said)
}
