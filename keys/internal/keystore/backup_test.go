package keystore

import (
	"os"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestFormerTextIsKeptWhenTheClockWentBack(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	for range keepBackups {
		rotate(t, store, kek, "pii")
	}
	store.now = func() time.Time { return time.Now().Add(-time.Hour) }
	before := testfile.Read(t, store.path("pii", AEAD))
	change := rotate(t, store, kek, "pii")
	if text, err := os.ReadFile(change.Backup); err != nil || string(text) != string(before) {
		t.Errorf("the former text is not where it is said to be: %v", err)
	}
	if kept, err := backupsOf(change.Path); err != nil || len(kept) != keepBackups {
		t.Errorf("kept %d, %v", len(kept), err)
	}
}
