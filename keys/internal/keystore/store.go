// Package keystore keeps Tink encrypted keysets in a folder.
//
// A keyset's name has one file per purpose, NAME.PURPOSE.json, in Tink's own
// JSON form of an encrypted keyset (empty associated data), so that any stock
// Tink tool reads it; a tenant's, NAME/TENANT, are NAME.TENANT.PURPOSE.json.
// Beside them lies NAME.meta.json, which says when each key was made, and the
// folder backups with former texts. The key-encryption key is given by the
// caller; this package never sees where it comes from.
//
// It assumes a local file system: files are replaced by rename, and changes are
// made under a lock on the folder, which other programs need not honour to read.
package keystore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// MaxKeysets is how many names for all one folder may hold. Each costs the agent
// three KMS calls a refresh, and all are served in one answer.
const MaxKeysets = 256

// MaxTenants is how many tenants' names one folder may hold. They are opened on
// demand, so this bounds only what a listing takes.
const MaxTenants = 1 << 16

// Store is a folder of encrypted keysets.
type Store struct {
	folder string
	now    func() time.Time
	disk   disk

	patience time.Duration // with others' lock

	announce func(*Change)
}

// Announce has f told of every change of a keyset when all that can be checked
// is checked and nothing is written yet.
func (s *Store) Announce(f func(*Change)) { s.announce = f }

// disk is what destroys: tests break it at every step.
type disk struct {
	remove func(path string) error
	sync   func(folder string) error
}

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
	return &Store{
		folder: folder,
		now:    time.Now,
		disk:   disk{remove: os.Remove, sync: atomicfile.SyncFolder},

		patience: lockPatience,
	}, nil
}

// OpenOrMake gives the store in a folder that it makes, mode 0700, if only its
// last part is missing.
func OpenOrMake(folder string) (*Store, error) {
	err := os.Mkdir(folder, 0o700)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(folder, "the folder it lies in does not exist", "make "+filepath.Dir(folder)+" first")
	case err != nil && !errors.Is(err, fs.ErrExist):
		return nil, errNotWritten(folder, err)
	}
	return Open(folder)
}

// Folder is the path that the store was opened with.
func (s *Store) Folder() string { return s.folder }

// Listing is what the folder holds, by name.
type Listing struct {
	Names    []string             // those for all, sorted
	Tenants  []string             // those of tenants, NAME/TENANT, sorted
	Purposes map[string][]Purpose // of each name, in the order of Purposes
	Ignored  []string             // .json files whose names are not understood, sorted
}

// All are the names for all and those of tenants, sorted.
func (l *Listing) All() []string {
	all := slices.Concat(l.Names, l.Tenants)
	slices.Sort(all)
	return all
}

// List reads the folder's names, and no file. Of a folder that holds too many it
// gives them with the error.
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
		name, kind, ok := parseFileName(file)
		switch {
		case !ok:
			listing.Ignored = append(listing.Ignored, file)
		case kind != metaKind:
			listing.Purposes[name] = append(listing.Purposes[name], Purpose(kind))
		}
	}
	for name, purposes := range listing.Purposes {
		slices.Sort(purposes)
		if IsTenant(name) {
			listing.Tenants = append(listing.Tenants, name)
		} else {
			listing.Names = append(listing.Names, name)
		}
	}
	slices.Sort(listing.Names)
	slices.Sort(listing.Tenants)
	if len(listing.Names) > MaxKeysets || len(listing.Tenants) > MaxTenants {
		return listing, fault.Input(s.folder, "it holds more keysets than one agent serves",
			"spread them over several folders, each with its own agent")
	}
	return listing, nil
}

// PurposesOf finds which keysets one name has, without reading the folder: it
// may hold many tenants. A name that is not there has none.
func (s *Store) PurposesOf(name string) ([]Purpose, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var purposes []Purpose
	for _, purpose := range Purposes {
		path := s.path(name, purpose)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			purposes = append(purposes, purpose)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fault.Failure(path, fault.Cause(err), "make the folder readable")
		}
	}
	return purposes, nil
}

func (s *Store) path(name string, purpose Purpose) string {
	return s.file(name, string(purpose))
}

func (s *Store) file(name, kind string) string {
	return filepath.Join(s.folder, stem(name)+"."+kind+".json")
}
