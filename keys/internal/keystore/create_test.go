package keystore

import (
	"fmt"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestNameThatWouldOverfillTheFolderIsNotMade(t *testing.T) {
	store, kek := newStore(t)
	for i := range MaxKeysets {
		testfile.Write(t, store.path(fmt.Sprintf("pii%d", i), AEAD), "{}")
	}
	before := contents(t, store)
	_, err := store.Create("pii", DefaultAEADTemplate, kek)
	wantFault(t, err, fault.ExitBadInput, "it holds 256 names already")
	if contents(t, store) != before {
		t.Error("something changed")
	}
	if _, err := store.CreateMissing("pii0", PRF, DefaultAEADTemplate, kek); err != nil {
		t.Errorf("a name that is there is not completed: %v", err)
	}
	create(t, store, kek, "pii/acme")
	if _, err := store.List(); err != nil {
		t.Error(err)
	}
}

func TestTenantThatWouldOverfillTheFolderIsNotMade(t *testing.T) {
	store, kek := newStore(t)
	for i := range MaxTenants {
		testfile.Write(t, store.path(fmt.Sprintf("pii/%d", i), AEAD), "")
	}
	_, err := store.Create("pii/acme", DefaultAEADTemplate, kek)
	wantFault(t, err, fault.ExitBadInput, "it holds 65536 names already")
	create(t, store, kek, "pii")
}
