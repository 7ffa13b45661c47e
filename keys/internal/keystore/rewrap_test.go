package keystore

import (
	"errors"
	"sync"
	"testing"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestRewrappedKeysetsOpenWithTheNewKeyAloneAndKeepTheirKeys(t *testing.T) {
	store, former := newStore(t)
	_, next := newStore(t)
	create(t, store, former, "pii")
	create(t, store, former, "pii/acme")
	sealed, err := primitive(t, store, former).Encrypt([]byte("value"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if said := rewrapAll(t, store, former, next, "pii", "pii/acme"); len(said) != 6 || said[0].Already || said[0].Backup == "" {
		t.Errorf("said %+v", said)
	}
	if opened, err := primitive(t, store, next).Decrypt(sealed, nil); err != nil || string(opened) != "value" {
		t.Errorf("the value does not open: %v", err)
	}
	for _, name := range []string{"pii", "pii/acme"} {
		for _, purpose := range Purposes {
			if err := store.Verify(name, purpose, former); fault.ExitStatus(err) != fault.ExitBadInput {
				t.Errorf("%s %s opens with the former key: %v", name, purpose, err)
			}
		}
	}
	before := contents(t, store)
	for _, one := range rewrapAll(t, store, former, next, "pii") {
		if !one.Already {
			t.Errorf("%s was wrapped twice", one.Path)
		}
	}
	if contents(t, store) != before {
		t.Error("something changed")
	}
}

func TestNothingIsRewrappedWhenOneKeysetDoesNotOpen(t *testing.T) {
	store, former := newStore(t)
	_, next := newStore(t)
	create(t, store, former, "pii")
	testfile.Write(t, store.path("pii", PRF), flipCiphertext(t, string(testfile.Read(t, store.path("pii", PRF)))))
	before := contents(t, store)
	wantFault(t, store.Rewrap([]string{"pii"}, former, next, nil), fault.ExitBadInput, "does not open it")
	wantFault(t, store.Rewrap([]string{"other"}, former, next, nil), fault.ExitBadInput, "no such keyset")
	if contents(t, store) != before {
		t.Error("something changed")
	}
}

func TestRewrapThatIsCutShortGoesOn(t *testing.T) {
	store, former := newStore(t)
	_, next := newStore(t)
	create(t, store, former, "pii")
	err := store.Rewrap([]string{"pii"}, former, &failing{AEAD: next, after: 1}, func(Rewrapped) {})
	wantFault(t, err, fault.ExitFailure, "1 of 3 keysets are rewrapped")
	said := rewrapAll(t, store, former, next, "pii")
	if !said[0].Already || said[1].Already || said[2].Already {
		t.Errorf("said %+v", said)
	}
}

func TestRefusalOfTheKMSIsSaidAsItIs(t *testing.T) {
	store, former := newStore(t)
	create(t, store, former, "pii")
	refusal := fault.Input("key URI x", "the KMS refuses", "ask")
	before := contents(t, store)
	err := store.Rewrap([]string{"pii"}, former, &failing{AEAD: former, says: refusal}, nil)
	if !errors.Is(err, refusal) || contents(t, store) != before {
		t.Errorf("error %v", err)
	}
}

func TestConcurrentRewrapsAndRotationsLoseNothing(t *testing.T) {
	store, former := newStore(t)
	_, next := newStore(t)
	create(t, store, former, "pii")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := store.Rewrap([]string{"pii"}, former, next, func(Rewrapped) {}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, purpose := range Purposes {
		if err := store.Verify("pii", purpose, next); err != nil {
			t.Error(err)
		}
	}
}

func TestKeyURIIsKnownOfTheTextThatWasWrittenWithIt(t *testing.T) {
	store, former := newStore(t)
	kek := named{former}
	create(t, store, kek, "pii")
	rotate(t, store, kek, "pii")
	file, err := store.Read("pii", AEAD)
	if err != nil {
		t.Fatal(err)
	}
	if uri, known := file.KEKURI(); !known || uri != "test://kek" {
		t.Errorf("key URI %q, %t", uri, known)
	}
	backups, err := file.Backups()
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, file.Path, string(testfile.Read(t, backups[0])))
	if file, err = store.Read("pii", AEAD); err != nil {
		t.Fatal(err)
	}
	if uri, known := file.KEKURI(); known {
		t.Errorf("key URI %q of a text that another wrote", uri)
	}
}

type named struct{ tink.AEAD }

func (named) KeyURI() string { return "test://kek" }

// failing wraps some keysets and then no more.
type failing struct {
	tink.AEAD
	after int
	says  error
}

func (f *failing) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	if f.after--; f.after < 0 {
		if f.says == nil {
			f.says = errors.New("away")
		}
		return nil, f.says
	}
	return f.AEAD.Encrypt(plaintext, associatedData)
}

func rewrapAll(t *testing.T, store *Store, former, next tink.AEAD, names ...string) (said []Rewrapped) {
	t.Helper()
	if err := store.Rewrap(names, former, next, func(one Rewrapped) { said = append(said, one) }); err != nil {
		t.Fatal(err)
	}
	return said
}
