package receipt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/signature"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// Witness writes the receipt of one destruction. Before anything is removed, a
// signed intent is on disk beside it; once all is gone, the receipt is signed and
// the intent removed. So nothing that is signed as destroyed was there still, and
// a run that was cut short is finished, and attested whole, by the next.
type Witness struct {
	file, pending string
	folder        string
	kekURI        string
	signer        tink.Signer
	verifier      tink.Verifier
	now           func() time.Time

	statement Statement
	resumed   bool
}

// NewWitness takes the receipt's file, the folder of the keysets, the key URI to
// be stated and the opened signing keyset.
func NewWitness(file, folder, kekURI string, handle *keyset.Handle) (*Witness, error) {
	public, err := handle.Public()
	if err != nil {
		return nil, err
	}
	signer, err := signature.NewSigner(handle)
	if err != nil {
		return nil, err
	}
	verifier, err := signature.NewVerifier(public)
	if err != nil {
		return nil, err
	}
	// The same folder has the same name from wherever it is named.
	absolute, err := filepath.Abs(folder)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return nil, fault.Failure(folder, fault.Cause(err), "make the folder readable")
	}
	return &Witness{
		file: file, pending: filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".pending"),
		folder: absolute, kekURI: kekURI, signer: signer, verifier: verifier, now: time.Now,
	}, nil
}

// Earlier reads what a run that was cut short had prepared.
func (w *Witness) Earlier(name string) (*keystore.Destruction, error) {
	read, err := w.readIntent()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(w.file); err == nil {
		if read != nil && w.attests(read) {
			// All that was left to do was to forget the intent.
			_ = os.Remove(w.pending)
		}
		return nil, w.errExists()
	}
	if read == nil {
		return nil, nil
	}
	if read.Name != name || read.Folder != w.folder {
		return nil, fault.Input(w.pending, "an earlier destruction of "+read.Name+" in "+read.Folder+" was cut short",
			"finish that first by running it again, or name another receipt")
	}
	// When nothing is left to open, only the intent tells what had wrapped it.
	if read.KEKURI != w.kekURI {
		return nil, fault.Input(w.pending, "an earlier destruction of "+read.Name+" was begun with the key-encryption key "+read.KEKURI,
			"finish it with that one; what is left and wrapped by another, rewrap by it before")
	}
	w.resumed = true
	earlier := &keystore.Destruction{Name: name, Whole: read.Whole}
	for _, k := range read.Keysets {
		earlier.Keysets = append(earlier.Keysets, keystore.DestroyedKeyset{Purpose: k.Purpose, KeyIDs: k.KeyIDs})
	}
	return earlier, nil
}

func (w *Witness) readIntent() (*intent, error) {
	if _, err := os.Lstat(w.pending); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	text, err := readBounded(w.pending)
	if err != nil {
		return nil, err
	}
	stated, err := verified(w.pending, text, w.verifier)
	if err != nil {
		return nil, err
	}
	read, ok := parseIntent(stated)
	if !ok {
		return nil, fault.Input(w.pending, "it does not state what was to be destroyed", "name another receipt")
	}
	return read, nil
}

// attests says whether the receipt that is there is the one of an intent.
func (w *Witness) attests(read *intent) bool {
	text, err := readBounded(w.file)
	if err != nil {
		return false
	}
	statement, err := parse(w.file, text, w.verifier)
	return err == nil && statement.Name == read.Name
}

func (w *Witness) errExists() error {
	return fault.Input(w.file, "the file exists already, and a receipt is never replaced",
		"check it with: fieldveil keys check-receipt; or choose another name")
}

// Prepare signs and writes the intent. A second run in another folder that is
// given the same receipt fails here, before it destroys anything.
func (w *Witness) Prepare(d *keystore.Destruction) error {
	keysets := []Keyset{}
	for _, k := range d.Keysets {
		keysets = append(keysets, Keyset{Purpose: k.Purpose, KeyIDs: k.KeyIDs})
	}
	if len(keysets) == 0 {
		return fault.Input(d.Name, "only backups are left of it, and a receipt would name no key", "leave out --receipt")
	}
	w.statement = Statement{Type: Type, Name: d.Name, Whole: d.Whole, Keysets: keysets, KEKURI: w.kekURI}
	text, err := sealStatement(
		intent{Type: typeIntent, KEKURI: w.kekURI, Folder: w.folder, Name: d.Name, Whole: d.Whole, Keysets: keysets}, w.signer)
	if err != nil {
		return fault.Failure(w.file, "the intent could not be signed", "try again")
	}
	atomicfile.Sweep(w.pending)
	atomicfile.Sweep(w.file)
	write := atomicfile.Create
	if w.resumed {
		write = atomicfile.Replace
	}
	if err := write(w.pending, text); err != nil {
		return fault.Input(w.file, "the receipt can not be written there ("+fault.Cause(err)+"), so nothing is destroyed now",
			"choose a place that can be written")
	}
	if _, err := os.Lstat(w.file); err == nil {
		if !w.resumed {
			w.Cancel()
		}
		return w.errExists()
	}
	return nil
}

// Confirm signs and writes the receipt.
func (w *Witness) Confirm() error {
	w.statement.DestroyedAt = w.now().UTC().Truncate(time.Second)
	text, err := sealStatement(w.statement, w.signer)
	if err == nil {
		err = atomicfile.Create(w.file, text)
	}
	if err != nil {
		return fault.Failure(w.file, "it is destroyed, and the receipt could not be written ("+fault.Cause(err)+")",
			"run the same command again: it writes the receipt")
	}
	// What stays of the intent attests nothing, and says so when it is checked.
	_ = os.Remove(w.pending)
	return nil
}

// Cancel removes what was prepared: nothing was destroyed.
func (w *Witness) Cancel() { os.Remove(w.pending) }
