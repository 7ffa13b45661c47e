package receipt

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/signature"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func TestReceiptAttestsWhatWasDestroyedWhenAndByWhichKEK(t *testing.T) {
	f := newFixture(t)
	w := f.witness()
	before := time.Now().UTC().Truncate(time.Second)
	f.attest(w)
	statement, err := Check(f.file, f.public)
	if err != nil {
		t.Fatal(err)
	}
	if statement.Name != "pii/acme" || !statement.Whole || statement.KEKURI != "test://kek" || statement.DestroyedAt.Before(before) {
		t.Errorf("statement %+v", statement)
	}
	if len(statement.Keysets) != 2 || statement.Keysets[0].Purpose != keystore.AEAD || statement.Keysets[0].KeyIDs[1] != 7 {
		t.Errorf("keysets %+v", statement.Keysets)
	}
	if entries, _ := os.ReadDir(filepath.Dir(f.file)); len(entries) != 3 { // keysets, public, receipt
		t.Errorf("left over: %v", entries)
	}
}

func TestStockTinkVerifiesAReceipt(t *testing.T) {
	f := newFixture(t)
	f.attest(f.witness())
	var read struct {
		Statement string
		Signature []byte
	}
	if err := json.Unmarshal(f.read(f.file), &read); err != nil {
		t.Fatal(err)
	}
	public, err := keyset.ReadWithNoSecrets(keyset.NewJSONReader(bytes.NewReader(f.read(f.public))))
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := signature.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(read.Signature, []byte(read.Statement)); err != nil {
		t.Error(err)
	}
}

func TestWhatIsPreparedIsNoReceipt(t *testing.T) {
	f := newFixture(t)
	w := f.witness()
	f.ok(w.Prepare(destruction))
	if _, err := os.Lstat(f.file); err == nil {
		t.Error("the receipt is there")
	}
	_, err := Check(w.pending, f.public)
	f.wantFault(err, "was to be destroyed, and not that it was")
}

func TestAnythingElseThanWhatWasSignedIsRefused(t *testing.T) {
	f := newFixture(t)
	f.attest(f.witness())
	good := string(f.read(f.file))
	for name, text := range map[string]string{
		"another name": strings.Replace(good, "acme", "acne", 1),
		"another key":  strings.Replace(good, "[3,7]", "[3,8]", 1),
		"half":         good[:len(good)/2],
		"empty":        "",
		"two":          good + good,
		"more":         strings.Replace(good, `{"statement"`, `{"x":1,"statement"`, 1),
		"unsigned":     good[:strings.Index(good, `"signature"`)] + `"signature":""}`,
	} {
		if text == good {
			t.Fatalf("%s: nothing is changed", name)
		}
		f.write(f.file, text)
		if _, err := Check(f.file, f.public); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.write(f.file, good)
	other := newFixture(t)
	_, err := Check(f.file, other.public)
	f.wantFault(err, "its signature is not of this keyset")
	_, err = Check(f.file, f.file)
	f.wantFault(err, "not a public Tink signature keyset")
	_, err = Check(f.file+"x", f.public)
	f.wantFault(err, "there is no such file")
	_, err = Check(filepath.Dir(f.file), f.public)
	f.wantFault(err, "not a file")
}

func TestReceiptIsNeverReplaced(t *testing.T) {
	f := newFixture(t)
	f.write(f.file, "mine")
	_, err := f.witness().Earlier("pii/acme")
	f.wantFault(err, "never replaced")
	f.wantFault(f.witness().Prepare(destruction), "never replaced")
	if string(f.read(f.file)) != "mine" {
		t.Error("it was replaced")
	}
	if entries, _ := os.ReadDir(filepath.Dir(f.file)); len(entries) != 3 {
		t.Errorf("left over: %v", entries)
	}
}

func TestEarlierDestructionIsFinishedUnderItsOwnNameFolderAndKEK(t *testing.T) {
	f := newFixture(t)
	f.ok(f.witness().Prepare(destruction))

	earlier, err := f.witness().Earlier("pii/acme")
	if err != nil || earlier == nil || !earlier.Whole || !earlier.Has(7) || earlier.Has(8) {
		t.Fatalf("earlier %+v, %v", earlier, err)
	}
	_, err = f.witness().Earlier("pii")
	f.wantFault(err, "an earlier destruction of pii/acme")
	elsewhere, err := NewWitness(f.file, t.TempDir(), "test://kek", f.handle)
	f.ok(err)
	_, err = elsewhere.Earlier("pii/acme")
	f.wantFault(err, "an earlier destruction of pii/acme")
	f.wantFault(elsewhere.Prepare(destruction), "so nothing is destroyed")

	otherKEK, err := NewWitness(f.file, f.folder, "test://another", f.handle)
	f.ok(err)
	_, err = otherKEK.Earlier("pii/acme")
	f.wantFault(err, "was begun with the key-encryption key test://kek")

	forged := newFixture(t)
	stranger, err := NewWitness(f.file, f.folder, "test://kek", forged.handle)
	f.ok(err)
	_, err = stranger.Earlier("pii/acme")
	f.wantFault(err, "its signature is not of this keyset")

	w := f.witness()
	if _, err := w.Earlier("pii/acme"); err != nil {
		t.Fatal(err)
	}
	f.attest(w)
	if _, err := Check(f.file, f.public); err != nil {
		t.Error(err)
	}
}

func TestIntentThatOutlivedItsReceiptIsForgotten(t *testing.T) {
	f := newFixture(t)
	w := f.witness()
	f.ok(w.Prepare(destruction))
	kept := string(f.read(w.pending))
	f.ok(w.Confirm())
	f.write(w.pending, kept)
	_, err := f.witness().Earlier("pii/acme")
	f.wantFault(err, "never replaced")
	if _, err := os.Lstat(w.pending); err == nil {
		t.Error("the intent is still there")
	}
}

func TestReceiptThatCanNotBeWrittenIsWrittenByTheNextRun(t *testing.T) {
	f := newFixture(t)
	w := f.witness()
	f.ok(w.Prepare(destruction))
	f.write(f.file, "in the way")
	if err := w.Confirm(); fault.ExitStatus(err) != fault.ExitFailure {
		t.Errorf("error %v", err)
	}
	f.ok(os.Remove(f.file))
	again := f.witness()
	if earlier, err := again.Earlier("pii/acme"); err != nil || earlier == nil {
		t.Fatalf("earlier %v, %v", earlier, err)
	}
	f.attest(again)
	if _, err := Check(f.file, f.public); err != nil {
		t.Error(err)
	}
}

var destruction = &keystore.Destruction{Name: "pii/acme", Whole: true, Keysets: []keystore.DestroyedKeyset{
	{Purpose: keystore.AEAD, KeyIDs: []uint32{3, 7}}, {Purpose: keystore.PRF, KeyIDs: []uint32{9}},
}}

// fixture has a signing keyset, its public half in a file, and a place for a receipt.
type fixture struct {
	*testing.T
	handle               *keyset.Handle
	folder, file, public string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	handle, err := keyset.NewHandle(signature.ED25519KeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := &fixture{T: t, handle: handle, folder: filepath.Join(dir, "keysets"), file: filepath.Join(dir, "receipt.json"), public: filepath.Join(dir, "public.json")}
	f.ok(os.Mkdir(f.folder, 0o700))
	text, err := Public(handle)
	f.ok(err)
	f.write(f.public, string(text))
	return f
}

func (f *fixture) witness() *Witness {
	f.Helper()
	w, err := NewWitness(f.file, f.folder, "test://kek", f.handle)
	f.ok(err)
	return w
}

func (f *fixture) attest(w *Witness) {
	f.Helper()
	f.ok(w.Prepare(destruction))
	f.ok(w.Confirm())
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) read(path string) []byte {
	f.Helper()
	text, err := os.ReadFile(path)
	f.ok(err)
	return text
}

func (f *fixture) write(path, text string) {
	f.Helper()
	f.ok(os.WriteFile(path, []byte(text), 0o600))
}

func (f *fixture) wantFault(err error, part string) {
	f.Helper()
	if fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), part) {
		f.Errorf("error %v (status %d), not one with %q", err, fault.ExitStatus(err), part)
	}
}
