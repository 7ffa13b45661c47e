package keystore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Destroy removes all keysets of a name with every copy that this package made
// of them, if they are still what was agreed to. Cut short at any point, it is
// finished by being run again.
func (s *Store) Destroy(agreed *Destruction, kek tink.AEAD, witness Witness) (*Destruction, error) {
	name := agreed.Name
	unlock, err := s.begin(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	planned, err := s.PlanDestruction(name, kek)
	if err != nil {
		return nil, err
	}
	if !planned.isSame(agreed) {
		return nil, errChangedMeanwhile(name)
	}
	earlier, err := witness.Earlier(name)
	if err != nil {
		return nil, err
	}
	copies, files, err := s.everythingOf(name)
	if err != nil {
		return nil, err
	}
	switch {
	case earlier != nil:
		planned.absorb(earlier)
	case len(copies) == 0 && len(files) == 0:
		return nil, errNoKeyset(s.path(name, AEAD), name)
	}
	if err := checkOnlyNames(slices.Concat(copies, files)); err != nil {
		return nil, err
	}
	if err := s.probe(name); err != nil {
		return nil, err
	}
	if err := witness.Prepare(planned); err != nil {
		return nil, err
	}
	if err := s.removeAll(copies); err != nil {
		if earlier == nil {
			witness.Cancel()
		}
		return nil, err
	}
	if err := s.removeAll(files); err != nil {
		isWhole := allThere(files)
		if earlier == nil && isWhole {
			witness.Cancel()
		}
		if isWhole && len(copies) == 0 {
			return nil, err
		}
		return nil, errPartly(name, err)
	}
	return planned, s.attest(witness)
}

// PlanDestruction names what Destroy would destroy. Every keyset is opened: what
// a file states in clear is no proof.
func (s *Store) PlanDestruction(name string, kek tink.AEAD) (*Destruction, error) {
	purposes, err := s.PurposesOf(name)
	if err != nil {
		return nil, err
	}
	copies, files, err := s.everythingOf(name)
	if err != nil {
		return nil, err
	}
	if err := s.checkNoStrays(name); err != nil {
		return nil, err
	}
	planned := &Destruction{Name: name, Whole: true, Copies: len(copies) + len(files) - len(purposes)}
	for _, purpose := range purposes {
		file, err := s.Read(name, purpose)
		if err != nil {
			return nil, err
		}
		handle, err := file.Open(kek)
		if err != nil {
			return nil, err
		}
		destroyed := DestroyedKeyset{Purpose: purpose}
		for _, key := range handle.KeysetInfo().GetKeyInfo() {
			destroyed.KeyIDs = append(destroyed.KeyIDs, key.GetKeyId())
		}
		slices.Sort(destroyed.KeyIDs)
		planned.Keysets = append(planned.Keysets, destroyed)
		planned.texts = append(planned.texts, digest(file.Text))
	}
	return planned, nil
}

// attest confirms what is gone, once it is gone from the disk, too. An earlier
// run may have removed it and not come so far.
func (s *Store) attest(witness Witness) error {
	for _, folder := range []string{filepath.Join(s.folder, backupsFolder), s.folder} {
		if err := s.syncIfThere(folder); err != nil {
			return fault.Failure(folder, fault.Cause(err), "run the same command again to finish it")
		}
	}
	return witness.Confirm()
}

func (s *Store) syncIfThere(folder string) error {
	if err := s.disk.sync(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkOnlyNames refuses files that have another name elsewhere, under which the
// keys would live on.
func checkOnlyNames(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return errNotRead(path, err)
		}
		if !info.Mode().IsRegular() {
			return fault.Input(path, "it is a link or no file, and what it leads to would stay", "change it in the folder where it lies")
		}
		if linked, ok := info.Sys().(*syscall.Stat_t); ok && linked.Nlink > 1 {
			return fault.Input(path, "it has another name (a hard link), under which it would stay",
				"find that with find -samefile, remove it, and run the command again")
		}
	}
	return nil
}

func allThere(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}

// everythingOf are the paths of a name's files: copies, which nothing reads, and
// the files that make the name.
func (s *Store) everythingOf(name string) (copies, files []string, err error) {
	var kinds []string
	for _, purpose := range Purposes {
		kinds = append(kinds, string(purpose))
	}
	for _, kind := range append(kinds, metaKind) {
		path := s.file(name, kind)
		backups, err := backupsOf(path)
		if err != nil {
			return nil, nil, err
		}
		copies = append(copies, backups...)
		if _, err := os.Lstat(path); err == nil {
			files = append(files, path)
		}
	}
	return copies, files, nil
}

// probe finds out before anything is prepared that the folder can't be written.
func (s *Store) probe(name string) error {
	staged, err := atomicfile.Stage(s.file(name, metaKind), nil)
	if err != nil {
		return errNotWritten(s.folder, err)
	}
	staged.Discard()
	return nil
}

// removeAll removes files and stops at the first that it can't.
func (s *Store) removeAll(paths []string) error {
	for i, path := range paths {
		err := s.disk.remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if i > 0 {
			return errPartly(path, err)
		}
		return errNotWritten(path, err)
	}
	return nil
}

func errChangedMeanwhile(name string) error {
	return fault.Input(name, "it was changed meanwhile, so nothing is destroyed", "see what it has now and run the command again")
}

// errPartly is a failure whatever the cause: something is gone.
func errPartly(place string, err error) error {
	reason := fault.Cause(err)
	var said *fault.Fault
	if errors.As(err, &said) {
		reason = said.Reason
	}
	return fault.Failure(place, "partly destroyed ("+reason+")", "run the same command again to finish it")
}
