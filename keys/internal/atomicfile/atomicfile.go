// Package atomicfile writes small private files whole or not at all: mode 0600,
// on disk before they get their name, so that neither a reader nor a power cut
// ever meets half a file.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Create writes a new file. It fails with fs.ErrExist when the name is taken.
func Create(path string, content []byte) error {
	return write(path, content, func(temporary string) error {
		// A hard link, unlike a rename, refuses to replace.
		return os.Link(temporary, path)
	})
}

// Replace writes a file, in the place of an earlier one if there is one.
func Replace(path string, content []byte) error {
	return write(path, content, func(temporary string) error {
		return os.Rename(temporary, path)
	})
}

func write(path string, content []byte, publish func(temporary string) error) error {
	folder := filepath.Dir(path)
	// The leading dot keeps it out of listings; CreateTemp makes it 0600.
	temporary, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, writeError := temporary.Write(content)
	if err := errors.Join(writeError, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := publish(temporary.Name()); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder puts the new name itself on disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
