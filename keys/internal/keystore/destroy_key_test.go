package keystore

import (
	"testing"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestKeyThatWasChangedSinceItWasAgreedToIsNotDestroyed(t *testing.T) {
	for what, change := range map[string]func(*Store, tink.AEAD, uint32) (*Change, error){
		"status": func(s *Store, kek tink.AEAD, keyID uint32) (*Change, error) { return s.Enable("pii", AEAD, keyID, kek) },
		"a rotation": func(s *Store, kek tink.AEAD, _ uint32) (*Change, error) {
			return s.AddKey("pii", AEAD, "", true, kek)
		},
	} {
		store, kek := newStore(t)
		create(t, store, kek, "pii")
		former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
		rotate(t, store, kek, "pii")
		if _, err := store.Disable("pii", AEAD, former, kek); err != nil {
			t.Fatal(err)
		}
		for range keepBackups { // so that the number of former texts stays as it is
			rotate(t, store, kek, "pii")
		}
		planned, err := store.PlanKeyDestruction("pii", "", former, kek, NoWitness{})
		if err != nil {
			t.Fatal(err)
		}
		whole := plan(t, store, kek, "pii")
		if _, err := change(store, kek, former); err != nil {
			t.Fatal(err)
		}
		before := contents(t, store)
		_, err = store.DestroyKey(planned, kek, NoWitness{})
		wantFault(t, err, fault.ExitBadInput, "changed meanwhile")
		_, err = store.Destroy(whole, kek, NoWitness{})
		wantFault(t, err, fault.ExitBadInput, "changed meanwhile")
		if contents(t, store) != before {
			t.Errorf("%s: something changed", what)
		}
	}
}

func TestEarlierDestructionOfAKeyIsOfItsKeysetAlone(t *testing.T) {
	store, kek := newStore(t)
	create(t, store, kek, "pii")
	former := openHandle(t, store, kek, AEAD).KeysetInfo().GetPrimaryKeyId()
	rotate(t, store, kek, "pii")
	witness := &memory{prepared: &Destruction{Name: "pii", Keysets: []DestroyedKeyset{{Purpose: AEAD, KeyIDs: []uint32{former}}}}}
	_, err := store.PlanKeyDestruction("pii", Deterministic, former, kek, witness)
	wantFault(t, err, fault.ExitBadInput, "cut short")
	planned, err := store.PlanKeyDestruction("pii", "", former, kek, witness)
	if err != nil || planned.Gone {
		t.Errorf("it is there still, and said to be gone: %+v, %v", planned, err)
	}
}

// destroyKey plans it and does it.
func destroyKey(store *Store, kek tink.AEAD, name string, purpose Purpose, keyID uint32, witness Witness) (*Change, error) {
	planned, err := store.PlanKeyDestruction(name, purpose, keyID, kek, witness)
	if err != nil {
		return nil, err
	}
	return store.DestroyKey(planned, kek, witness)
}
