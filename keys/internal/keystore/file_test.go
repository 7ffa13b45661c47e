package keystore

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestFIFOInAFilesPlaceHoldsNobody(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	for _, path := range []string{store.path("pii", AEAD), store.file("pii", metaKind)} {
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := store.Read("pii", AEAD)
	wantFault(t, err, fault.ExitBadInput, "not a regular file")
	wantFault(t, store.VerifyMeta("pii"), fault.ExitBadInput, "not a regular file")
	if err := store.Verify("pii", PRF, kek); err != nil {
		t.Error(err)
	}
}
