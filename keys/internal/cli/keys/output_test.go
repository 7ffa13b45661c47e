package keys

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

func TestWhatIsDoneIsInTheErrorWhenItCanNotBeWritten(t *testing.T) {
	for _, form := range []string{"text", "json"} {
		f := newFolder(t)
		var stderr bytes.Buffer
		arguments := f.complete([]string{"keys", "create", "pii", "--output", form})
		status := command.Run(command.Root("", "", New()), arguments, full{}, &stderr)
		last := stderr.String()[strings.LastIndex(strings.TrimSpace(stderr.String()), "\n")+1:]
		if status != 1 || !strings.HasPrefix(last, "fieldveil: standard output: it can not be written to (no space left on device); this is done all the same: created ") ||
			!strings.Contains(last, "pii.prf.json (primary key ") {
			t.Errorf("%s: status %d: %s", form, status, stderr.String())
		}
		f.inspect("pii")
	}
}

func TestRewrapThatStopsHalfWayTellsWhatItDidInJSON(t *testing.T) {
	f, _ := newRotated(t)
	if err := os.Link(f.file("pii.prf.json"), f.beside("elsewhere")); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"keys", "rewrap", "--all", "--new-kek-uri", kek.InsecureDevURI(f.beside("next.json")), "--output", "json"}
	status, said, errors := run(t, f.complete(arguments)...)
	var document struct{ Keysets []rewrapped }
	if err := json.Unmarshal([]byte(said), &document); err != nil || status != 1 || len(document.Keysets) != 2 ||
		!strings.Contains(errors, "2 of 3 keysets are rewrapped") {
		t.Errorf("status %d, %v: %s%s", status, err, said, errors)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}
