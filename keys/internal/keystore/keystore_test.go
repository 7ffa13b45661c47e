package keystore

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestCreatedKeysetsAreStockTinkEncryptedKeysets(t *testing.T) {
	store, kek := newStore(t)
	for name, keyType := range map[AEADTemplate]string{
		"aes256-gcm": "AesGcmKey", "aes128-gcm": "AesGcmKey", "aes256-gcm-siv": "AesGcmSivKey", "xchacha20-poly1305": "XChaCha20Poly1305Key",
	} {
		created, err := store.Create(string(name), name, kek)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{keyType, "AesSivKey", "HmacPrfKey"} {
			text := testfile.Read(t, created[i].Path)
			handle, err := keyset.Read(keyset.NewJSONReader(bytes.NewReader(text)), kek)
			if err != nil {
				t.Fatal(err)
			}
			if got := handle.KeysetInfo().GetKeyInfo()[0].GetTypeUrl(); got != typeURLPrefix+want {
				t.Errorf("%s: a key of type %s", created[i].Path, got)
			}
			if mode := fileMode(t, created[i].Path); mode != 0o600 {
				t.Errorf("%s: mode %o", created[i].Path, mode)
			}
		}
	}
}

func TestCreateLeavesAnExistingNameAsItIs(t *testing.T) {
	for _, purpose := range Purposes {
		store, kek := newStore(t)
		path := store.path("pii", purpose)
		testfile.Write(t, path, "mine")
		_, err := store.Create("pii", DefaultAEADTemplate, kek)
		wantFault(t, err, fault.ExitBadInput, "exists already")
		if names := folder(t, store); len(names) != 1 || string(testfile.Read(t, path)) != "mine" {
			t.Errorf("the folder changed: %v", names)
		}
	}
}

func TestNamesThatCouldLeaveTheFolderAreRefused(t *testing.T) {
	store, kek := newStore(t)
	for _, name := range []string{"", "../pii", "a/", "/a", "a/b/c", "a/../b", "a/B", "a.b", "PII", "-x", ".x", "a\nb", strings.Repeat("a", 64)} {
		_, err := store.Create(name, DefaultAEADTemplate, kek)
		wantFault(t, err, fault.ExitBadInput, "can not name a keyset")
		_, err = store.AddKey(name, AEAD, "", true, kek)
		wantFault(t, err, fault.ExitBadInput, "can not name a keyset")
	}
}

func TestRotatedKeysetStillOpensWhatTheOldKeySealed(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	sealed, err := primitive(t, store, kek).Encrypt([]byte("value"), nil)
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := store.AddKey("pii", AEAD, "", true, kek)
	if err != nil {
		t.Fatal(err)
	}
	if rotated.Primary != rotated.Added || rotated.PreviousPrimary == rotated.Primary {
		t.Errorf("the new key is not the primary: %+v", rotated)
	}
	after := primitive(t, store, kek)
	if opened, err := after.Decrypt(sealed, nil); err != nil || string(opened) != "value" {
		t.Errorf("the old value does not open: %v", err)
	}
	anew, _ := after.Encrypt([]byte("value"), nil)
	if bytes.Equal(anew[1:5], sealed[1:5]) {
		t.Error("the old key still seals")
	}
	if mode := fileMode(t, rotated.Path); mode != 0o600 {
		t.Errorf("mode %o after rotation", mode)
	}
}

func TestAddedKeyDoesNotSealUntilItIsPromoted(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	added, err := store.AddKey("pii", AEAD, "xchacha20-poly1305", false, kek)
	if err != nil {
		t.Fatal(err)
	}
	if added.Primary != added.PreviousPrimary {
		t.Errorf("the primary changed: %+v", added)
	}
	promoted, err := store.Promote("pii", AEAD, added.Added, kek)
	if err != nil {
		t.Fatal(err)
	}
	if promoted.Primary != added.Added || promoted.Added != 0 {
		t.Errorf("not promoted: %+v", promoted)
	}
}

func TestRotationKeepsTheAlgorithmUnlessAskedForAnother(t *testing.T) {
	store, kek := newStore(t)
	if _, err := store.Create("pii", "aes256-gcm-siv", kek); err != nil {
		t.Fatal(err)
	}
	for _, template := range []AEADTemplate{"", "aes128-gcm", ""} {
		if _, err := store.AddKey("pii", AEAD, template, true, kek); err != nil {
			t.Fatal(err)
		}
	}
	var types []string
	for _, key := range openHandle(t, store, kek, AEAD).KeysetInfo().GetKeyInfo() {
		types = append(types, strings.TrimPrefix(key.GetTypeUrl(), typeURLPrefix))
	}
	if got := strings.Join(types, " "); got != "AesGcmSivKey AesGcmSivKey AesGcmKey AesGcmKey" {
		t.Errorf("types %s", got)
	}
}

func TestConcurrentRotationsLoseNoKey(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	const rotations = 16
	var group sync.WaitGroup
	for range rotations {
		group.Go(func() {
			if _, err := store.AddKey("pii", AEAD, "", true, kek); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := openHandle(t, store, kek, AEAD).Len(); n != rotations+1 {
		t.Errorf("%d keys, not %d", n, rotations+1)
	}
	if names := folder(t, store); len(names) != len(Purposes)+2 {
		t.Errorf("files left over: %v", names)
	}
	if backups, err := backupsOf(store.path("pii", AEAD)); err != nil || len(backups) != keepBackups {
		t.Errorf("%d backups, not %d: %v", len(backups), keepBackups, err)
	}
}

func TestPromotingWhatCanNotBePrimaryChangesNothing(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	added, err := store.AddKey("pii", AEAD, "", false, kek)
	if err != nil {
		t.Fatal(err)
	}
	manager := keyset.NewManagerFromHandle(openHandle(t, store, kek, AEAD))
	if err := manager.Disable(added.Added); err != nil {
		t.Fatal(err)
	}
	disabled, err := manager.Handle()
	if err != nil {
		t.Fatal(err)
	}
	text, err := encrypt(disabled, kek, added.Path)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, added.Path, string(text))

	_, err = store.Promote("pii", AEAD, added.Added, kek)
	wantFault(t, err, fault.ExitBadInput, "is DISABLED")
	_, err = store.Promote("pii", AEAD, added.Added+1, kek)
	wantFault(t, err, fault.ExitBadInput, "has no key")
	if !bytes.Equal(testfile.Read(t, added.Path), text) {
		t.Error("the file changed")
	}
}

func TestBrokenFilesAreRefusedAndLeftAlone(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	path := store.path("pii", AEAD)
	good := string(testfile.Read(t, path))
	handle := openHandle(t, store, kek, AEAD)
	var cleartext bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&cleartext)); err != nil {
		t.Fatal(err)
	}
	for content, reason := range map[string]string{
		"":                                  "not a Tink encrypted keyset",
		"{}":                                "not a Tink encrypted keyset",
		good[:len(good)/2]:                  "not a Tink encrypted keyset",
		flipCiphertext(t, good):             "does not open it",
		cleartext.String():                  "in clear text",
		strings.Repeat(" ", MaxFileBytes+1): "longer than",
		string(testfile.Read(t, store.path("pii", Deterministic))): "is of type",
	} {
		testfile.Write(t, path, content)
		_, err := store.AddKey("pii", AEAD, "", true, kek)
		wantFault(t, err, fault.ExitBadInput, reason)
		if string(testfile.Read(t, path)) != content {
			t.Errorf("%s: the file changed", reason)
		}
		secret := base64.StdEncoding.EncodeToString(insecurecleartextkeyset.KeysetMaterial(handle).GetKey()[0].GetKeyData().GetValue())
		if strings.Contains(err.Error(), secret[:16]) {
			t.Errorf("%s: key material in the error", reason)
		}
	}
}

func TestKeysWithoutTinkPrefixAreRefused(t *testing.T) {
	store, kek := newStore(t)
	handle, err := keyset.NewHandle(aead.AES256GCMNoPrefixKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	text, err := encrypt(handle, kek, "")
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, store.path("pii", AEAD), string(text))
	file, err := store.Read("pii", AEAD)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Open(kek)
	wantFault(t, err, fault.ExitBadInput, "output prefix RAW")
}

func TestKeysetIsNotWrittenWhenTheKEKCanNotOpenItAgain(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	_, err := store.Create("other", DefaultAEADTemplate, sealOnly{kek})
	wantFault(t, err, fault.ExitFailure, "does not open what it wrapped")
	if names := folder(t, store); len(names) != len(Purposes)+1 {
		t.Errorf("files were made: %v", names)
	}
}

func TestListTellsKeysetsFromOtherFiles(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	create(t, store, kek, "payments")
	for _, file := range []string{"pii.daead.json", "notes.json", "README", ".pii.aead.json.123", ".hidden.json"} {
		testfile.Write(t, filepath.Join(store.Folder(), file), "x")
	}
	listing, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(listing.Names, " "); got != "payments pii" {
		t.Errorf("names %s", got)
	}
	if got := strings.Join(listing.Ignored, " "); got != "notes.json pii.daead.json" {
		t.Errorf("ignored %s", got)
	}
}

type sealOnly struct{ tink.AEAD }

func (sealOnly) Decrypt(_, _ []byte) ([]byte, error) { return nil, errors.New("denied") }

func newStore(t *testing.T) (*Store, tink.AEAD) {
	t.Helper()
	store, err := OpenOrMake(filepath.Join(t.TempDir(), "keysets"))
	if err != nil {
		t.Fatal(err)
	}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	kek, err := aead.New(handle)
	if err != nil {
		t.Fatal(err)
	}
	return store, kek
}

func create(t *testing.T, store *Store, kek tink.AEAD, name string) {
	t.Helper()
	if _, err := store.Create(name, DefaultAEADTemplate, kek); err != nil {
		t.Fatal(err)
	}
}

func openHandle(t *testing.T, store *Store, kek tink.AEAD, purpose Purpose) *keyset.Handle {
	t.Helper()
	file, err := store.Read("pii", purpose)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := file.Open(kek)
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

func primitive(t *testing.T, store *Store, kek tink.AEAD) tink.AEAD {
	t.Helper()
	p, err := aead.New(openHandle(t, store, kek, AEAD))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func flipCiphertext(t *testing.T, text string) string {
	t.Helper()
	var file map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	var ciphertext []byte
	if err := json.Unmarshal(file["encryptedKeyset"], &ciphertext); err != nil {
		t.Fatal(err)
	}
	ciphertext[len(ciphertext)-1] ^= 1
	file["encryptedKeyset"], _ = json.Marshal(ciphertext)
	broken, _ := json.Marshal(file)
	return string(broken)
}

func wantFault(t *testing.T, err error, status int, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") || fault.ExitStatus(err) != status {
		t.Errorf("error %v (status %d), not one line with %q (status %d)", err, fault.ExitStatus(err), part, status)
	}
}

func folder(t *testing.T, store *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(store.Folder())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func fileMode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
