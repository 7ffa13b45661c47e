// Package testfile makes, reads and removes files for tests, which end where that fails.
package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Folder makes a folder that is removed at the end, with a name short enough for a socket's path: that of t.TempDir can be
// too long.
func Folder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "fieldveil")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// Write writes a file, with the folder that it is in.
func Write[T string | []byte](t testing.TB, path string, content T) {
	t.Helper()
	MakeFolder(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// MakeFolder makes a folder, with those that it is in.
func MakeFolder(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Read reads a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Remove removes a file.
func Remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// CopyFolder copies a folder with all that is in it.
func CopyFolder(t testing.TB, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
