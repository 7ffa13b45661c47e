// Package atomicfile writes small private files whole or not at all: on disk
// before they get their name, so that neither a reader nor a power cut ever
// meets half a file. A new file has mode 0600; one that takes the place of
// another keeps that one's mode, and its owner where the system allows it.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Create writes a new file. It fails with fs.ErrExist when the name is taken.
func Create(path string, content []byte) error {
	staged, err := Stage(path, content)
	if err != nil {
		return err
	}
	defer staged.Discard()
	return staged.Create()
}

// Replace writes a file, in the place of an earlier one if there is one.
func Replace(path string, content []byte) error {
	staged, err := Stage(path, content)
	if err != nil {
		return err
	}
	defer staged.Discard()
	return staged.Replace()
}

// Staged is a file that is on disk whole and has no name yet. What can fail for
// want of room has not failed once it is there, so that several files can be
// staged before the first of them is given its name.
type Staged struct {
	temporary, path string
	file            *os.File // locked, so that Sweep knows whose run still lives
}

// Stage writes a file that Create or Replace gives its name later.
func Stage(path string, content []byte) (*Staged, error) {
	// The leading dot keeps it out of listings; CreateTemp makes it 0600.
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	staged := &Staged{temporary: temporary.Name(), path: path, file: temporary}
	// Where there are no locks, Sweep gets none either.
	_ = syscall.Flock(int(temporary.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	_, writeError := temporary.Write(content)
	if err := errors.Join(writeError, temporary.Sync()); err != nil {
		staged.Discard()
		return nil, err
	}
	return staged, nil
}

// Share lets everybody read the file: it holds nothing secret. One that takes the
// place of another keeps that one's mode all the same.
func (s *Staged) Share() error { return os.Chmod(s.temporary, 0o644) }

// Create gives the file its name, unless that is taken: then it fails with
// fs.ErrExist.
func (s *Staged) Create() error {
	// A hard link, unlike a rename, refuses to replace.
	if err := os.Link(s.temporary, s.path); err != nil {
		return err
	}
	if err := SyncFolder(filepath.Dir(s.path)); err != nil {
		os.Remove(s.path)
		return err
	}
	return nil
}

// ErrUnsynced says that a file has taken the place of another, and that a power
// cut may bring that one back.
var ErrUnsynced = errors.New("it is replaced, but perhaps not yet on the disk")

// Replace gives the file its name, in the place of an earlier file.
func (s *Staged) Replace() error {
	if former, err := os.Stat(s.path); err == nil {
		if err := s.resemble(former); err != nil {
			return err
		}
	}
	if err := os.Rename(s.temporary, s.path); err != nil {
		return err
	}
	if err := SyncFolder(filepath.Dir(s.path)); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return nil
}

// Discard removes the file if it has no name yet.
func (s *Staged) Discard() {
	os.Remove(s.temporary)
	s.file.Close()
}

// resemble lets who could read the former file read this one: an operator and
// the agent need not be one user.
func (s *Staged) resemble(former os.FileInfo) error {
	if owner, ok := former.Sys().(*syscall.Stat_t); ok {
		// Only root may give a file away; for others it stays theirs.
		_ = os.Chown(s.temporary, int(owner.Uid), int(owner.Gid))
	}
	return os.Chmod(s.temporary, former.Mode().Perm())
}

// SyncFolder puts the names in a folder on disk.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
