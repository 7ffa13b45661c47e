package keystore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Rewrapped says what became of one keyset.
type Rewrapped struct {
	*Change
	Already bool // an earlier run had wrapped it
}

// Rewrap wraps keysets by another key-encryption key. Each must open with the
// former or the next one before the first is changed. Cut short, it goes on
// where it was when it is run again. Given one key-encryption key as both, it
// wraps everything anew, by the key's newest version.
func (s *Store) Rewrap(names []string, former, next tink.AEAD, said func(Rewrapped)) error {
	var files []*File
	for _, name := range names {
		read, err := s.ReadAll(name)
		if err != nil {
			return err
		}
		files = append(files, read...)
	}
	return s.rewrap(files, former, next, said)
}

func (s *Store) rewrap(files []*File, former, next tink.AEAD, said func(Rewrapped)) error {
	already := make([]bool, len(files))
	for i, file := range files {
		var err error
		if already[i], err = file.isRewrapped(former, next); err != nil {
			return err
		}
	}
	changed := 0
	for i, file := range files {
		done := Rewrapped{Change: &Change{Name: file.Name, Purpose: file.Purpose, Path: file.Path}, Already: already[i]}
		if !already[i] {
			change, err := s.rewrapOne(file, former, next)
			if err != nil && file.isRewrappedMeanwhile(next) {
				done.Already = true
				said(done)
				continue
			}
			if err != nil && changed > 0 {
				return fault.Failure(file.Path, fmt.Sprintf("%d of %d keysets are rewrapped, and then: %s", changed, len(files), err),
					"put that right and run the same command again: it goes on from here")
			}
			if err != nil {
				return err
			}
			done.Change = change
			changed++
		}
		said(done)
	}
	return nil
}

func (f *File) isRewrapped(former, next tink.AEAD) (bool, error) {
	_, err := f.Open(former)
	if err == nil {
		return false, nil
	}
	if _, nextError := f.Open(next); nextError == nil {
		return true, nil
	}
	return false, err
}

// isRewrappedMeanwhile says whether another command has done it since the file
// was read.
func (f *File) isRewrappedMeanwhile(next tink.AEAD) bool {
	read, err := readKeyset(f.Path, f.Purpose)
	if err != nil || bytes.Equal(read.Text, f.Text) {
		return false
	}
	_, err = read.Open(next)
	return err == nil
}

func (s *Store) rewrapOne(file *File, former, next tink.AEAD) (*Change, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Read again: another command may have changed it before the lock was had.
	read, err := readKeyset(file.Path, file.Purpose)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKeyset(file.Path, file.Name)
	}
	if err != nil {
		return nil, err
	}
	read.Name = file.Name
	if file.Name != "" {
		if err := s.sweep(file.Name); err != nil {
			return nil, err
		}
	}
	return s.changeFile(read, former, func(e *edit) error {
		e.kek, e.Changed = next, true
		return nil
	})
}
