package keystore

import (
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestLockThatIsNotLetGoIsSaid(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	other, err := Open(store.Folder())
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := other.lock()
	if err != nil {
		t.Fatal(err)
	}
	store.patience = 50 * time.Millisecond
	_, err = store.AddKey("pii", AEAD, "", true, kek)
	wantFault(t, err, fault.ExitFailure, "has held its lock for 50ms")

	store.patience = time.Minute
	time.AfterFunc(50*time.Millisecond, unlock)
	rotate(t, store, kek, "pii")
}
