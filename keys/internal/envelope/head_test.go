package envelope

import (
	"errors"
	"testing"
)

func TestHeadTellsLabelVersionAndKeyWithoutAKey(t *testing.T) {
	keysets := fresh(t)
	for name, seal := range map[string]struct {
		seal    func(Field, []byte) ([]byte, error)
		keyID   uint32
		indexed bool
	}{
		"randomized":    {keysets.SealRandomized, keysets.AEAD.KeysetInfo().GetPrimaryKeyId(), false},
		"deterministic": {keysets.SealDeterministic, keysets.Deterministic.KeysetInfo().GetPrimaryKeyId(), false},
		"indexed":       {keysets.SealIndexed, keysets.AEAD.KeysetInfo().GetPrimaryKeyId(), true},
	} {
		sealed, err := seal.seal(field, nil)
		if err != nil {
			t.Fatal(err)
		}
		wanted := Head{Indexed: seal.indexed, Tag: TagOf(field.Label), KeyID: seal.keyID}
		for _, form := range []struct {
			stored []byte
			raw    bool
		}{{sealed, true}, {[]byte(Armor(sealed)), false}} {
			if head, err := ReadHead(form.stored, form.raw); err != nil || head != wanted {
				t.Errorf("%s, raw %v: %+v, %v", name, form.raw, head, err)
			}
		}
	}
}

func TestHeadOfPlaintextAndOfBrokenEnvelopesAreToldApart(t *testing.T) {
	sealed, err := fresh(t).SealIndexed(field, nil)
	if err != nil {
		t.Fatal(err)
	}
	armored := Armor(sealed)
	for _, plain := range []string{"", "078-05-1120", "fv1", "fv2." + armored[4:], " " + armored} {
		if _, err := ReadHead([]byte(plain), false); !errors.Is(err, ErrPlaintext) {
			t.Errorf("%q: %v", plain, err)
		}
	}
	for _, plain := range [][]byte{{}, []byte(armored), {0xF6, 1}} {
		if _, err := ReadHead(plain, true); !errors.Is(err, ErrPlaintext) {
			t.Errorf("%x: %v", plain, err)
		}
	}
	another := append([]byte{}, sealed...)
	another[1] = 3
	for _, broken := range []string{"fv1.", "fv1.=", armored + "=", armored[:40], armored[:len(armored)-20], Armor(another), Armor([]byte("plain"))} {
		if _, err := ReadHead([]byte(broken), false); err == nil || errors.Is(err, ErrPlaintext) {
			t.Errorf("%q: %v", broken, err)
		}
	}
	for length := 1; length < headLength+indexLength+prefixLength+minCiphertext; length++ {
		if _, err := ReadHead(sealed[:length], true); err == nil || errors.Is(err, ErrPlaintext) {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}
