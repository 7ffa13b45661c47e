package envelopetest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
)

var field = Field{Label: "customer.ssn", Tenant: "north"}

func TestWhatWasSealedOpens(t *testing.T) {
	keysets := NewKeysets(t)
	for name, seal := range map[string]func(Field, []byte) ([]byte, error){
		"randomized": keysets.SealRandomized, "deterministic": keysets.SealDeterministic, "indexed": keysets.SealIndexed,
	} {
		for _, plaintext := range []string{"", "078-05-1120", "zero\x00byte", strings.Repeat("long ", 10_000)} {
			raw, err := seal(field, []byte(plaintext))
			if err != nil {
				t.Fatal(err)
			}
			for _, stored := range [][]byte{raw, []byte(Armor(raw))} {
				opened, err := keysets.Open(field, stored)
				if err != nil || string(opened) != plaintext {
					t.Fatalf("%s: opened %d bytes of %d: %v", name, len(opened), len(plaintext), err)
				}
			}
		}
	}
}

func TestOnlyDeterministicEnvelopesAreEqual(t *testing.T) {
	keysets := NewKeysets(t)
	first, _ := keysets.SealDeterministic(field, []byte("x"))
	second, _ := keysets.SealDeterministic(field, []byte("x"))
	if !bytes.Equal(first, second) {
		t.Error("equal values sealed deterministically differ")
	}
	first, _ = keysets.SealRandomized(field, []byte("x"))
	second, _ = keysets.SealRandomized(field, []byte("x"))
	if bytes.Equal(first, second) {
		t.Error("equal values sealed at random are equal")
	}
}

func TestAnotherLabelTenantOrByteIsRefused(t *testing.T) {
	keysets := NewKeysets(t)
	raw, err := keysets.SealRandomized(field, []byte("078-05-1120"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []Field{{Label: "customer.email", Tenant: "north"}, {Label: "customer.ssn"}, {Label: "customer.ssn", Tenant: "south"}} {
		if _, err := keysets.Open(other, raw); err == nil {
			t.Errorf("it opens as %+v", other)
		}
	}
	for i := range raw {
		broken := bytes.Clone(raw)
		broken[i] ^= 1
		if _, err := keysets.Open(field, broken); err == nil {
			t.Errorf("it opens with byte %d changed", i)
		}
		if _, err := keysets.Open(field, raw[:i]); err == nil {
			t.Errorf("its first %d bytes open", i)
		}
	}
	if _, err := NewKeysets(t).Open(field, raw); err == nil {
		t.Error("it opens with other keysets")
	}
}

func TestIndexedEnvelopesOfOneValueAndFieldShareTheirIndexAlone(t *testing.T) {
	keysets := NewKeysets(t)
	seal := func(field Field, plaintext string) []byte {
		raw, err := keysets.SealIndexed(field, []byte(plaintext))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	const prefix = envelope.HeadLength + envelope.IndexLength
	first, second := seal(field, "x"), seal(field, "x")
	if !bytes.Equal(first[:prefix], second[:prefix]) || bytes.Equal(first, second) {
		t.Error("envelopes of one value do not share their index and nothing else")
	}
	for _, other := range [][]byte{
		seal(field, "y"), seal(Field{Label: field.Label, Tenant: "south"}, "x"), seal(Field{Label: "other", Tenant: field.Tenant}, "x"),
	} {
		if bytes.Equal(first[envelope.HeadLength:prefix], other[envelope.HeadLength:prefix]) {
			t.Error("another value or field has the same index")
		}
	}
}

func TestIndexOfAnotherValueIsRefused(t *testing.T) {
	keysets := NewKeysets(t)
	raw, err := keysets.SealIndexed(field, []byte("078-05-1120"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		broken := bytes.Clone(raw)
		broken[i] ^= 1
		if _, err := keysets.Open(field, broken); err == nil {
			t.Errorf("it opens with byte %d changed", i)
		}
		if _, err := keysets.Open(field, raw[:i]); err == nil {
			t.Errorf("its first %d bytes open", i)
		}
	}
}
