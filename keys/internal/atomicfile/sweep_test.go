package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestSweepRemovesWhatKilledRunsStagedAndNothingElse(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.json")
	living, err := Stage(path, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	killed, err := Stage(path, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	killed.file.Close() // as the system does for a process that is killed
	others := []string{path, living.temporary}
	for _, name := range []string{".s.json.x", ".s.json.", ".s.json", ".other.s.json.1", "s.json.1"} {
		other := filepath.Join(folder, name)
		testfile.Write(t, other, "")
		others = append(others, other)
	}
	testfile.Write(t, path, "")
	Sweep(path)
	if _, err := os.Lstat(killed.temporary); err == nil {
		t.Error("what a killed run staged is still there")
	}
	for _, other := range others {
		if _, err := os.Lstat(other); err != nil {
			t.Error(err)
		}
	}
	living.Discard()
	if _, err := os.Lstat(living.temporary); err == nil {
		t.Error("what was discarded is still there")
	}
}
