package keystore

import (
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestNothingIsDestroyedWhileACopyMayLieBesideIt(t *testing.T) {
	for _, file := range []string{
		"pii.aead.json.bad", "pii.aead.json~", "pii.aead~", "pii.aead.old.json", "pii.aead", "pii.old", "pii.json.1",
		"#pii.aead.json#", ".pii.aead.json", ".pii.aead.old",
		filepath.Join(backupsFolder, "pii.aead.json"), filepath.Join(backupsFolder, "pii.aead~"),
	} {
		store, kek := newStore(t)
		create(t, store, kek, "pii")
		former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
		rotate(t, store, kek, "pii")
		testfile.Write(t, filepath.Join(store.Folder(), file), string(testfile.Read(t, store.path("pii", AEAD))))
		before := contents(t, store)
		_, err := store.PlanDestruction("pii", kek)
		wantFault(t, err, fault.ExitBadInput, "may be a copy of a keyset of pii")
		_, err = destroyKey(store, kek, "pii", AEAD, former, NoWitness{})
		wantFault(t, err, fault.ExitBadInput, "may be a copy of a keyset of pii")
		if contents(t, store) != before {
			t.Errorf("%s: something changed", file)
		}
	}
}

func TestFilesOfOtherNamesAreNoCopies(t *testing.T) {
	store, kek := newStore(t)
	for _, name := range []string{"pii", "pii/acme", "pii/aead", "pii-2"} {
		create(t, store, kek, name)
		rotate(t, store, kek, name)
	}
	for _, file := range []string{"pii.acme.aead.json.bad", "pii.globex.prf.json~", "pii-2.aead.json~", "pii2.aead.json", "README", ".pii.aead.json.123", ".pii.acme.aead.json.1"} {
		testfile.Write(t, filepath.Join(store.Folder(), file), "x")
	}
	if _, err := store.Destroy(plan(t, store, kek, "pii"), kek, NoWitness{}); err != nil {
		t.Error(err)
	}
	_, err := store.PlanDestruction("pii/acme", kek)
	wantFault(t, err, fault.ExitBadInput, "pii.acme.aead.json.bad")
	if _, err := store.Destroy(plan(t, store, kek, "pii/aead"), kek, NoWitness{}); err != nil {
		t.Error(err)
	}
}
