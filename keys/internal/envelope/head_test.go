package envelope_test

import (
	"errors"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
	"github.com/fieldveil/fieldveil/keys/internal/envelope/envelopetest"
)

var field = envelopetest.Field{Label: "customer.ssn", Tenant: "north"}

func TestHeadTellsLabelVersionAndKeyWithoutAKey(t *testing.T) {
	keysets := envelopetest.NewKeysets(t)
	for name, seal := range map[string]struct {
		seal    func(envelopetest.Field, []byte) ([]byte, error)
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
		wanted := envelope.Head{Indexed: seal.indexed, Tag: envelope.TagOf(field.Label), KeyID: seal.keyID}
		for _, form := range []struct {
			stored []byte
			raw    bool
		}{{sealed, true}, {[]byte(envelopetest.Armor(sealed)), false}} {
			if head, err := envelope.ReadHead(form.stored, form.raw); err != nil || head != wanted {
				t.Errorf("%s, raw %v: %+v, %v", name, form.raw, head, err)
			}
		}
	}
}

func TestHeadOfPlaintextAndOfBrokenEnvelopesAreToldApart(t *testing.T) {
	sealed, err := envelopetest.NewKeysets(t).SealIndexed(field, nil)
	if err != nil {
		t.Fatal(err)
	}
	armored := envelopetest.Armor(sealed)
	for _, plain := range []string{"", "078-05-1120", "fv1", "fv2." + armored[4:], " " + armored} {
		if _, err := envelope.ReadHead([]byte(plain), false); !errors.Is(err, envelope.ErrPlaintext) {
			t.Errorf("%q: %v", plain, err)
		}
	}
	for _, plain := range [][]byte{{}, []byte(armored), {0xF6, 1}} {
		if _, err := envelope.ReadHead(plain, true); !errors.Is(err, envelope.ErrPlaintext) {
			t.Errorf("%x: %v", plain, err)
		}
	}
	another := append([]byte{}, sealed...)
	another[1] = 3
	for _, broken := range []string{"fv1.", "fv1.=", armored + "=", armored[:40], armored[:len(armored)-20], envelopetest.Armor(another), envelopetest.Armor([]byte("plain"))} {
		if _, err := envelope.ReadHead([]byte(broken), false); err == nil || errors.Is(err, envelope.ErrPlaintext) {
			t.Errorf("%q: %v", broken, err)
		}
	}
	for length := 1; length < envelope.HeadLength+envelope.IndexLength+envelope.PrefixLength+envelope.MinCiphertext; length++ {
		if _, err := envelope.ReadHead(sealed[:length], true); err == nil || errors.Is(err, envelope.ErrPlaintext) {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}
