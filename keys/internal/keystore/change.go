package keystore

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Change says what was changed in one keyset.
type Change struct {
	Name            string
	Purpose         Purpose
	Path            string
	Changed         bool   // false: it was as asked for already
	Added           uint32 // 0: no key was added
	PreviousPrimary uint32
	Primary         uint32
	Backup          string // path of the former text; "": none was kept
}

// edit is a change of one keyset while it is made. A step sets Changed, or
// leaves everything as it is.
type edit struct {
	*Change
	before  *keyset.Handle
	manager *keyset.Manager
	meta    meta
	kek     tink.AEAD // that wraps the new text
	// prepare takes the place of the backup where key material is to be gone.
	prepare func() error
}

// change reads, changes and replaces one keyset under the folder's lock.
func (s *Store) change(name string, purpose Purpose, kek tink.AEAD, step func(*edit) error) (*Change, error) {
	unlock, err := s.begin(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	file, err := s.Read(name, purpose)
	if err != nil {
		return nil, err
	}
	return s.changeFile(file, kek, step)
}

// changeFile does it for a file that was read under the lock. One with another
// name elsewhere is refused: a new text would cut it off from that name, and the
// former one would stay there for good, with keys that are destroyed later.
func (s *Store) changeFile(file *File, kek tink.AEAD, step func(*edit) error) (*Change, error) {
	if err := checkOnlyNames([]string{file.Path}); err != nil {
		return nil, err
	}
	handle, err := file.Open(kek)
	if err != nil {
		return nil, err
	}
	about, err := s.readMeta(file.Name)
	if err != nil {
		return nil, err
	}
	former := about.text()
	primary := handle.KeysetInfo().GetPrimaryKeyId()
	e := &edit{
		Change: &Change{Name: file.Name, Purpose: file.Purpose, Path: file.Path, PreviousPrimary: primary, Primary: primary},
		before: handle, manager: keyset.NewManagerFromHandle(handle), meta: about, kek: kek,
	}
	if err := step(e); err != nil {
		return nil, err
	}
	if !e.Changed {
		return e.Change, nil
	}
	after, err := e.manager.Handle()
	if err != nil {
		return nil, fault.Failure(file.Path, "the keyset could not be put together: "+err.Error(), "try again")
	}
	e.Primary = after.KeysetInfo().GetPrimaryKeyId()
	text, err := encrypt(after, e.kek, file.Path)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFileBytes {
		return nil, fault.Input(file.Path, "it would be longer than a keyset file can be (1 MiB)", "start a new keyset")
	}
	if file.Name != "" { // a file of its own has no notes
		e.meta.wrap(file.Purpose, e.kek, text)
	}
	if s.announce != nil {
		s.announce(e.Change)
	}
	if bytes.Equal(e.meta.text(), former) {
		return e.Change, s.replace(file, text, e, nil)
	}
	stagedMeta, err := atomicfile.Stage(s.file(file.Name, metaKind), e.meta.text())
	if err != nil {
		return nil, errNotWritten(s.file(file.Name, metaKind), err)
	}
	defer stagedMeta.Discard()
	return e.Change, s.replace(file, text, e, stagedMeta)
}

// replace gives a keyset's file its new text, and keeps the former one unless
// the change prepares otherwise. Whatever may lack room is on disk before the
// first file gets its name.
func (s *Store) replace(file *File, text []byte, e *edit, stagedMeta *atomicfile.Staged) error {
	staged, err := atomicfile.Stage(file.Path, text)
	if err != nil {
		return errNotWritten(file.Path, err)
	}
	defer staged.Discard()
	if e.prepare != nil {
		err = e.prepare()
	} else {
		e.Backup, err = backup(file.Path, file.Text, s.now())
	}
	if err != nil {
		return err
	}
	if err := staged.Replace(); errors.Is(err, atomicfile.ErrUnsynced) {
		return fault.Failure(file.Path, "it is changed, but perhaps not yet on the disk ("+fault.Cause(err)+")",
			"see that the disk is well and what the keyset has with: fieldveil keys inspect")
	} else if err != nil {
		if e.Backup != "" {
			os.Remove(e.Backup)
		}
		return errNotWritten(file.Path, err)
	}
	pruneBackups(file.Path, e.Backup)
	if stagedMeta == nil {
		return nil
	}
	// Last: without it the keyset is whole all the same.
	if err := stagedMeta.Replace(); err != nil {
		return fault.Failure(s.file(file.Name, metaKind), fault.Cause(err),
			"the keyset is changed; the age of its keys may be unknown")
	}
	return nil
}

func errNoKey(path string, keyID uint32) error {
	return fault.Input(path, fmt.Sprintf("it has no key %d", keyID), "see its keys with: fieldveil keys list")
}
