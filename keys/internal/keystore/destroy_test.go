package keystore

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestDestroyedNameLeavesNothing(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	create(t, store, kek, "pii/acme")
	rotate(t, store, kek, "pii")
	secrets := materialOf(t, store, kek, "pii")
	testfile.Write(t, filepath.Join(store.Folder(), ".pii.json.aead.json.1"), "x") // of the tenant json, and stays
	staged := filepath.Join(store.Folder(), ".pii.aead.json.123456")
	testfile.Write(t, staged, string(testfile.Read(t, store.path("pii", AEAD))))
	stagedBackup := filepath.Join(store.Folder(), backupsFolder, ".pii.aead.json.20260101T000000.000000000Z.1")
	testfile.Write(t, stagedBackup, string(testfile.Read(t, store.path("pii", AEAD))))
	done, err := store.Destroy(plan(t, store, kek, "pii"), kek, NoWitness{})
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Keysets) != 3 || len(done.Keysets[0].KeyIDs) != 2 || !done.Whole {
		t.Errorf("destroyed %+v", done)
	}
	wantNowhere(t, store, kek, secrets)
	if got := folder(t, store); slices.ContainsFunc(got, func(file string) bool {
		return file != backupsFolder && file[:9] != "pii.acme." && file[:9] != ".pii.json"
	}) {
		t.Errorf("files left: %v", got)
	}
	for _, purpose := range Purposes {
		if err := store.Verify("pii/acme", purpose, kek); err != nil {
			t.Errorf("a tenant's keyset went with it: %v", err)
		}
	}
	_, err = store.Destroy(done, kek, NoWitness{})
	wantFault(t, err, fault.ExitBadInput, "changed meanwhile")
	_, err = store.Destroy(plan(t, store, kek, "pii"), kek, NoWitness{})
	wantFault(t, err, fault.ExitBadInput, "there is no such keyset")
}

func TestDestroyedKeyIsInNoFileAndTheOthersStillOpen(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	secrets := materialOf(t, store, kek, "pii")[AEAD]
	rotate(t, store, kek, "pii")
	sealed, err := primitive(t, store, kek).Encrypt([]byte("value"), nil)
	if err != nil {
		t.Fatal(err)
	}
	change, err := destroyKey(store, kek, "pii", "", former, NoWitness{})
	if err != nil || !change.Changed || change.Backup != "" || change.Purpose != AEAD {
		t.Fatalf("%+v, %v", change, err)
	}
	wantNowhere(t, store, kek, map[Purpose][][]byte{AEAD: secrets})
	if opened, err := primitive(t, store, kek).Decrypt(sealed, nil); err != nil || string(opened) != "value" {
		t.Errorf("what the other key sealed: %v", err)
	}
	file, err := store.Read("pii", AEAD)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := file.Created(former); known {
		t.Error("the time of the destroyed key is still noted")
	}
	_, err = destroyKey(store, kek, "pii", AEAD, former, NoWitness{})
	wantFault(t, err, fault.ExitBadInput, "has no key")
	_, err = destroyKey(store, kek, "pii", AEAD, change.Primary, NoWitness{})
	wantFault(t, err, fault.ExitBadInput, "is the primary")
}

// A disk that fails at any step of a destruction leaves either everything and no
// receipt, or something to finish, and the same run again finishes and attests.
func TestDestructionThatFailsAtAnyStepIsFinishedByTheNextRun(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for _, after := range []bool{true, false} { // the step is done, and fails all the same
			step := 0
			for failAtStep(t, whole, after, step) {
				step++
			}
			if step < 5 {
				t.Errorf("whole %t: only %d steps", whole, step)
			}
		}
	}
}

func failAtStep(t *testing.T, whole, after bool, step int) (wasThere bool) {
	t.Helper()
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	secrets := materialOf(t, store, kek, "pii")
	rotate(t, store, kek, "pii")
	rotate(t, store, kek, "pii")
	if !whole {
		secrets = map[Purpose][][]byte{AEAD: secrets[AEAD]}
	}
	before, left, cause := contents(t, store), step, syscall.EACCES
	if after {
		cause = syscall.EIO
	}
	failing := func(sound func(string) error) func(string) error {
		return func(path string) error {
			left--
			if left != -1 {
				return sound(path)
			}
			if after {
				_ = sound(path)
			}
			return &fs.PathError{Op: "change", Path: path, Err: cause}
		}
	}
	store.disk = disk{remove: failing(store.disk.remove), sync: failing(store.disk.sync)}
	witness := &memory{}
	run := func() error {
		if !whole {
			_, err := destroyKey(store, kek, "pii", AEAD, former, witness)
			return err
		}
		_, err := store.Destroy(plan(t, store, kek, "pii"), kek, witness)
		return err
	}
	place := fmt.Sprintf("whole %t, after %t, step %d", whole, after, step)
	err := run()
	if left >= 0 { // there is no such step
		if err != nil || witness.confirmed == nil {
			t.Errorf("%s: %v", place, err)
		}
		return false
	}
	if err == nil || witness.confirmed != nil {
		t.Errorf("%s: attested, and it failed: %v", place, err)
	}
	if fault.ExitStatus(err) == fault.ExitBadInput && contents(t, store) != before {
		t.Errorf("%s: bad input, and something changed: %v", place, err)
	}
	if witness.prepared == nil && len(materialOf(t, store, kek, "pii")) != 3 {
		t.Errorf("%s: something is destroyed and nothing of it remembered", place)
	}
	if err := run(); err != nil {
		t.Errorf("%s: it is not finished: %v", place, err)
	}
	if witness.confirmed == nil || !witness.confirmed.Has(former) || whole && len(witness.confirmed.Keysets) != 3 {
		t.Errorf("%s: attested %+v", place, witness.confirmed)
	}
	wantNowhere(t, store, kek, secrets)
	return true
}

func TestFinishedDestructionOfAKeyLeavesNoFormerTextThatHoldsIt(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	secrets := materialOf(t, store, kek, "pii")[AEAD]
	holds := testfile.Read(t, store.path("pii", AEAD))
	rotate(t, store, kek, "pii")
	if _, err := destroyKey(store, kek, "pii", AEAD, former, NoWitness{}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup(store.path("pii", AEAD), holds, store.now()); err != nil {
		t.Fatal(err)
	}
	witness := &memory{prepared: &Destruction{Name: "pii", Keysets: []DestroyedKeyset{{Purpose: AEAD, KeyIDs: []uint32{former}}}}}
	if _, err := destroyKey(store, kek, "pii", AEAD, former, witness); err != nil || witness.confirmed == nil {
		t.Fatalf("attested %+v: %v", witness.confirmed, err)
	}
	wantNowhere(t, store, kek, map[Purpose][][]byte{AEAD: secrets})
}

func TestNothingIsDestroyedWhenTheWitnessCanNot(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	rotate(t, store, kek, "pii")
	before := contents(t, store)
	witness := &memory{refuses: errors.New("no room")}
	if _, err := store.Destroy(plan(t, store, kek, "pii"), kek, witness); !errors.Is(err, witness.refuses) {
		t.Errorf("error %v", err)
	}
	if _, err := destroyKey(store, kek, "pii", AEAD, former, witness); !errors.Is(err, witness.refuses) {
		t.Errorf("error %v", err)
	}
	if contents(t, store) != before {
		t.Error("something changed")
	}
}

func TestKeysetsWithAnotherNameElsewhereAreNotChanged(t *testing.T) {
	for reason, link := range map[string]func(from, to string) error{"hard link": os.Link, "it is a link": func(from, to string) error {
		return errors.Join(os.Rename(from, to), os.Symlink(to, from))
	}} {
		store, kek := newStore(t)
		create(t, store, kek, "pii")
		former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
		rotate(t, store, kek, "pii")
		if err := link(store.path("pii", AEAD), filepath.Join(t.TempDir(), "elsewhere")); err != nil {
			t.Fatal(err)
		}
		before := contents(t, store)
		_, err := store.Destroy(plan(t, store, kek, "pii"), kek, NoWitness{})
		wantFault(t, err, fault.ExitBadInput, reason)
		_, err = destroyKey(store, kek, "pii", AEAD, former, NoWitness{})
		wantFault(t, err, fault.ExitBadInput, reason)
		_, err = store.AddKey("pii", AEAD, "", true, kek)
		wantFault(t, err, fault.ExitBadInput, reason)
		err = store.Rewrap([]string{"pii"}, kek, kek, func(Rewrapped) {})
		wantFault(t, err, fault.ExitBadInput, reason)
		if contents(t, store) != before {
			t.Errorf("%s: something changed", reason)
		}
	}
}

func TestDestructionThatIsNotAllowedIsBadInput(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	store.disk.remove = func(path string) error { return &fs.PathError{Op: "remove", Path: path, Err: syscall.EACCES} }
	witness := &memory{}
	_, err := store.Destroy(plan(t, store, kek, "pii"), kek, witness)
	wantFault(t, err, fault.ExitBadInput, "permission denied")
	if witness.prepared != nil {
		t.Error("the intent is still there")
	}
}

// memory is a witness that forgets nothing but what is cancelled.
type memory struct {
	prepared, confirmed *Destruction
	refuses             error
}

func (m *memory) Earlier(string) (*Destruction, error) { return m.prepared, nil }

func (m *memory) Prepare(d *Destruction) error {
	if m.refuses != nil {
		return m.refuses
	}
	kept := *d
	m.prepared = &kept
	return nil
}

func (m *memory) Confirm() error {
	m.confirmed, m.prepared = m.prepared, nil
	return nil
}

func (m *memory) Cancel() { m.prepared = nil }

func plan(t *testing.T, store *Store, kek tink.AEAD, name string) *Destruction {
	t.Helper()
	planned, err := store.PlanDestruction(name, kek)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

func rotate(t *testing.T, store *Store, kek tink.AEAD, name string) *Change {
	t.Helper()
	change, err := store.AddKey(name, AEAD, "", true, kek)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

// materialOf is the secret of each key of a name.
func materialOf(t *testing.T, store *Store, kek tink.AEAD, name string) map[Purpose][][]byte {
	t.Helper()
	purposes, err := store.PurposesOf(name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[Purpose][][]byte{}
	for _, purpose := range purposes {
		file, err := store.Read(name, purpose)
		if err != nil {
			t.Fatal(err)
		}
		handle, err := file.Open(kek)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range insecurecleartextkeyset.KeysetMaterial(handle).GetKey() {
			value := key.GetKeyData().GetValue()
			found[purpose] = append(found[purpose], value[len(value)-32:])
		}
	}
	return found
}

// wantNowhere opens every file that is left, and looks for secrets in it.
func wantNowhere(t *testing.T, store *Store, kek tink.AEAD, secrets map[Purpose][][]byte) {
	t.Helper()
	err := filepath.WalkDir(store.Folder(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text := testfile.Read(t, path)
		opened := []byte(nil)
		if encrypted, err := keyset.NewJSONReader(bytes.NewReader(text)).ReadEncrypted(); err == nil {
			if opened, err = kek.Decrypt(encrypted.GetEncryptedKeyset(), nil); err != nil {
				t.Errorf("%s does not open: %v", path, err)
			}
		}
		for purpose, values := range secrets {
			for _, secret := range values {
				if bytes.Contains(opened, secret) || bytes.Contains(text, secret) || bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString(secret)[:24])) {
					t.Errorf("%s holds a destroyed %s key", path, purpose)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// contents is every file of the folder with its name.
func contents(t *testing.T, store *Store) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(store.Folder(), func(path string, entry fs.DirEntry, err error) error {
		all.WriteString(path + "\n")
		if err == nil && !entry.IsDir() {
			all.Write(testfile.Read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
