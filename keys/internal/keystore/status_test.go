package keystore

import (
	"slices"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestDisabledKeyOpensNothingUntilItIsEnabled(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	sealed, err := primitive(t, store, kek).Encrypt([]byte("value"), nil)
	if err != nil {
		t.Fatal(err)
	}
	rotate(t, store, kek, "pii")
	change, err := store.Disable("pii", AEAD, former, kek)
	if err != nil || !change.Changed || change.Backup == "" {
		t.Fatalf("%+v, %v", change, err)
	}
	if _, err := primitive(t, store, kek).Decrypt(sealed, nil); err == nil {
		t.Error("a disabled key opens")
	}
	before := contents(t, store)
	if again, err := store.Disable("pii", AEAD, former, kek); err != nil || again.Changed || contents(t, store) != before {
		t.Errorf("disabled twice: %+v, %v", again, err)
	}
	if _, err := store.Enable("pii", AEAD, former, kek); err != nil {
		t.Fatal(err)
	}
	if _, err := primitive(t, store, kek).Decrypt(sealed, nil); err != nil {
		t.Errorf("an enabled key does not open: %v", err)
	}
}

func TestStatusThatCanNotBeChangesNothing(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	before := contents(t, store)
	for _, purpose := range Purposes {
		primary := openHandle(t, store, kek, purpose).KeysetInfo().GetPrimaryKeyId()
		_, err := store.Disable("pii", purpose, primary, kek)
		wantFault(t, err, fault.ExitBadInput, "is the primary")
		_, err = store.Disable("pii", purpose, primary+1, kek)
		wantFault(t, err, fault.ExitBadInput, "has no key")
		_, err = store.Enable("pii", purpose, primary+1, kek)
		wantFault(t, err, fault.ExitBadInput, "has no key")
	}
	if contents(t, store) != before {
		t.Error("something changed")
	}
}

func TestFormerTextsAreWholeAndTheOldestGo(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	var kept []string
	for range keepBackups + 2 {
		text := testfile.Read(t, store.path("pii", AEAD))
		change := rotate(t, store, kek, "pii")
		if string(testfile.Read(t, change.Backup)) != string(text) || fileMode(t, change.Backup) != 0o600 {
			t.Fatalf("%s is not what was there", change.Backup)
		}
		kept = append(kept, change.Backup)
	}
	file, err := store.Read("pii", AEAD)
	if err != nil {
		t.Fatal(err)
	}
	if backups, err := file.Backups(); err != nil || !slices.Equal(backups, kept[2:]) {
		t.Errorf("kept %v, %v", backups, err)
	}
}
