// Package keystore keeps Tink encrypted keysets in a folder.
//
// A keyset's name has one file per purpose, NAME.PURPOSE.json, in Tink's own
// JSON form of an encrypted keyset (empty associated data), so that any stock
// Tink tool reads it. The key-encryption key is given by the caller; this
// package never sees where it comes from.
//
// It assumes a local file system: files are replaced by rename, and changes are
// made under a lock on the folder, which other programs need not honour to read.
package keystore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// MaxKeysets is how many names one folder may hold. Each costs the agent three
// KMS calls a refresh, and all are served in one answer.
const MaxKeysets = 256

// namePattern has no upper case, so that names stay apart on file systems that
// fold it, and no dot, which divides name from purpose.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// CheckName refuses a name that can not be a keyset's.
func CheckName(name string) error {
	if namePattern.MatchString(name) {
		return nil
	}
	return fault.Input("keyset name \""+name+"\"", "it can not name a keyset",
		"use 1 to 63 of a-z 0-9 _ - and begin with a letter or digit")
}

// Store is a folder of encrypted keysets.
type Store struct{ folder string }

// Open gives the store in an existing folder.
func Open(folder string) (*Store, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(folder, "there is no such keyset folder",
			"name an existing one, or make a first keyset with: fieldveil keys create NAME")
	case err != nil:
		return nil, fault.Failure(folder, fault.Cause(err), "make the folder readable")
	case !info.IsDir():
		return nil, fault.Input(folder, "not a folder", "name the folder that holds the keysets")
	}
	return &Store{folder: folder}, nil
}

// OpenOrMake gives the store in a folder that it makes, mode 0700, if only its
// last part is missing.
func OpenOrMake(folder string) (*Store, error) {
	err := os.Mkdir(folder, 0o700)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(folder, "the folder it lies in does not exist", "make "+filepath.Dir(folder)+" first")
	case err != nil && !errors.Is(err, fs.ErrExist):
		return nil, fault.Failure(folder, fault.Cause(err), "choose a place that can be written")
	}
	return Open(folder)
}

// Folder is the path that the store was opened with.
func (s *Store) Folder() string { return s.folder }

// Listing is what the folder holds, by name.
type Listing struct {
	Names    []string             // sorted
	Purposes map[string][]Purpose // of each name, in the order of Purposes
	Ignored  []string             // .json files whose names are not understood, sorted
}

// List reads the folder's names, and no file.
func (s *Store) List() (*Listing, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil, fault.Failure(s.folder, fault.Cause(err), "make the folder readable")
	}
	listing := &Listing{Purposes: map[string][]Purpose{}}
	for _, entry := range entries {
		file := entry.Name()
		// Dots lead temporary files and the inner folders of mounted secrets.
		if strings.HasPrefix(file, ".") || !strings.HasSuffix(file, ".json") {
			continue
		}
		name, purpose, ok := parseFileName(file)
		if !ok {
			listing.Ignored = append(listing.Ignored, file)
			continue
		}
		listing.Purposes[name] = append(listing.Purposes[name], purpose)
	}
	for name, purposes := range listing.Purposes {
		slices.Sort(purposes)
		listing.Names = append(listing.Names, name)
	}
	slices.Sort(listing.Names)
	if len(listing.Names) > MaxKeysets {
		return nil, fault.Input(s.folder, "it holds more keysets than one agent serves",
			"spread them over several folders, each with its own agent")
	}
	return listing, nil
}

func parseFileName(file string) (string, Purpose, bool) {
	name, purposeText, _ := strings.Cut(strings.TrimSuffix(file, ".json"), ".")
	purpose, known := ParsePurpose(purposeText)
	return name, purpose, known && namePattern.MatchString(name)
}

func (s *Store) path(name string, purpose Purpose) string {
	return filepath.Join(s.folder, name+"."+string(purpose)+".json")
}
