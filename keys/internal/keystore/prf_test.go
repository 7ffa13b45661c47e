package keystore

import (
	"bytes"
	"testing"

	"github.com/tink-crypto/tink-go/v2/prf"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestPRFKeysetComputesWithStockTink(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	set, err := prf.NewPRFSet(openHandle(t, store, kek, PRF))
	if err != nil {
		t.Fatal(err)
	}
	// 32 bytes are a format-preserving label's key.
	if output, err := set.ComputePrimaryPRF([]byte("value"), 32); err != nil || len(output) != 32 {
		t.Errorf("%d bytes: %v", len(output), err)
	}
}

func TestPRFKeysetKeepsItsPrimaryKey(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	path := store.path("pii", PRF)
	before := testfile.Read(t, path)
	_, err := store.AddKey("pii", PRF, "", false, kek)
	wantFault(t, err, fault.ExitBadInput, "never changed")
	keyID := openHandle(t, store, kek, PRF).KeysetInfo().GetPrimaryKeyId()
	_, err = store.Promote("pii", PRF, keyID, kek)
	wantFault(t, err, fault.ExitBadInput, "never changed")
	if !bytes.Equal(testfile.Read(t, path), before) {
		t.Error("the file changed")
	}
}

func TestNameWithoutPRFKeysetWorksAndIsGivenOne(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	testfile.Remove(t, store.path("pii", PRF))
	rotated, err := store.AddKey("pii", AEAD, "", false, kek)
	if err != nil {
		t.Fatal(err)
	}
	if purpose, err := store.PurposeOfKey("pii", rotated.Added); err != nil || purpose != AEAD {
		t.Errorf("purpose %q: %v", purpose, err)
	}
	aead := testfile.Read(t, store.path("pii", AEAD))

	created, err := store.CreateMissing("pii", PRF, DefaultAEADTemplate, kek)
	if err != nil || len(created) != 1 || created[0].Purpose != PRF {
		t.Fatalf("created %+v: %v", created, err)
	}
	openHandle(t, store, kek, PRF)
	if !bytes.Equal(testfile.Read(t, store.path("pii", AEAD)), aead) {
		t.Error("the aead keyset changed")
	}
	_, err = store.CreateMissing("pii", PRF, DefaultAEADTemplate, kek)
	wantFault(t, err, fault.ExitBadInput, "exists already")
}

func TestKeysOfAnotherPurposeAreNoPRFKeys(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	testfile.Write(t, store.path("pii", PRF), string(testfile.Read(t, store.path("pii", Deterministic))))
	file, err := store.Read("pii", PRF)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Open(kek)
	wantFault(t, err, fault.ExitBadInput, "prf keys are HmacPrfKey, HkdfPrfKey, AesCmacPrfKey")
}

func TestKeyOfANameThatIsNotThereHasNoPurpose(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	_, err := store.PurposeOfKey("other", 1)
	wantFault(t, err, fault.ExitBadInput, "there is no such keyset")
}
