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
)

// Former texts of keysets lie in a folder of their own: what makes a ConfigMap or
// a Secret of a folder takes its files, hidden ones too, and no folder in it.
const backupsFolder = "backups"

// keepBackups is how many former texts of one file are kept. An older one lacks
// the keys of ten changes, and what they sealed would not open.
const keepBackups = 10

// backupTime sorts as time goes; it is UTC.
const backupTime = "20060102T150405.000000000Z"

// backup keeps a file's former text, and gives the path of what it wrote.
func backup(path string, text []byte, now time.Time) (string, error) {
	folder := filepath.Join(filepath.Dir(path), backupsFolder)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", errNotWritten(folder, err)
	}
	kept := filepath.Join(folder, filepath.Base(path)+"."+now.UTC().Format(backupTime))
	if err := atomicfile.Create(kept, text); err != nil {
		return "", errNotWritten(kept, err)
	}
	return kept, nil
}

// backupsOf are the former texts of a file, the oldest first.
func backupsOf(path string) ([]string, error) {
	folder := filepath.Join(filepath.Dir(path), backupsFolder)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errNotRead(folder, err)
	}
	found := []string{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+".") {
			found = append(found, filepath.Join(folder, entry.Name()))
		}
	}
	slices.Sort(found)
	return found, nil
}

// pruneBackups removes the oldest, and never the one that was just written: by
// a clock that went back it may seem the oldest. What it can't remove stays: it
// was private before, and the next change tries again.
func pruneBackups(path, written string) {
	found, err := backupsOf(path)
	if err != nil {
		return
	}
	if i := slices.Index(found, written); i >= 0 {
		found = append(slices.Delete(found, i, i+1), written)
	}
	for _, old := range found[:max(0, len(found)-keepBackups)] {
		os.Remove(old)
	}
}

// sweep removes what a killed command staged for a name's files and never named.
// It may hold a keyset, and a destroyed key must not live on in it. Who holds the
// lock is alone in staging.
func (s *Store) sweep(name string) error {
	for _, folder := range []string{s.folder, filepath.Join(s.folder, backupsFolder)} {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errNotRead(folder, err)
		}
		for _, entry := range entries {
			if !isStagedFor(name, entry.Name()) {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			if err := os.Remove(path); err != nil {
				return errNotWritten(path, err)
			}
		}
	}
	return nil
}

// isStagedFor tells what atomicfile stages: .NAME.PURPOSE.json.123456, and for a
// former text .NAME.PURPOSE.json.TIME.123456.
func isStagedFor(name, file string) bool {
	hidden, isHidden := strings.CutPrefix(file, ".")
	end := strings.LastIndex(hidden, ".json.") // a tenant may be called json
	if !isHidden || end < 0 {
		return false
	}
	of, _, ok := parseFileName(hidden[:end] + ".json")
	return ok && of == name
}
