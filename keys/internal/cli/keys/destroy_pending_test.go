package keys

import (
	"strconv"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/receipt"
)

func TestIntentOfARunThatDestroyedNothingIsNoConsent(t *testing.T) {
	f, former := newRotated(t)
	keyID, err := strconv.ParseUint(former, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	file, err := keystore.ReadSignature(f.beside("receipts.json"))
	if err != nil {
		t.Fatal(err)
	}
	handle, err := file.Open(f.openKEK(f.kek))
	if err != nil {
		t.Fatal(err)
	}
	witness, err := receipt.NewWitness(f.beside("r.json"), f.keysets, kek.InsecureDevURI(f.kek), handle)
	if err != nil {
		t.Fatal(err)
	}
	intended := &keystore.Destruction{Name: "pii", Keysets: []keystore.DestroyedKeyset{{Purpose: keystore.AEAD, KeyIDs: []uint32{uint32(keyID)}}}}
	if err := witness.Prepare(intended); err != nil {
		t.Fatal(err)
	}
	before := f.content()
	arguments := []string{"keys", "destroy", "pii", "--key-id", former, "--receipt", f.beside("r.json"), "--receipt-keyset", f.beside("receipts.json")}
	status, _, said := run(t, f.complete(arguments)...)
	if status != 2 || !strings.Contains(said, "no terminal to ask at") || f.content() != before {
		t.Errorf("status %d: %s", status, said)
	}
	f.ok(append(arguments, "--yes")...)
	f.ok("keys", "check-receipt", f.beside("r.json"), "--public-keyset", f.beside("public.json"))
}
