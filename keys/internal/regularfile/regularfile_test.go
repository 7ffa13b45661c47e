package regularfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadTakesRegularFilesAndLinksToThem(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(file, []byte("four"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if text, err := Read(path, 4); err != nil || string(text) != "four" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
		if _, err := Read(path, 3); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReadRefusesAtOnceWhatIsNoFile(t *testing.T) {
	// t.TempDir can be too long for a socket's path.
	folder, err := os.MkdirTemp("", "fieldveil")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	fifo, socket := filepath.Join(folder, "fifo"), filepath.Join(folder, "socket")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for path, want := range map[string]error{
		fifo: ErrNotRegular, socket: ErrNotRegular, os.DevNull: ErrNotRegular, folder: syscall.EISDIR, folder + "/x": fs.ErrNotExist,
	} {
		if _, err := Read(path, 4); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
