// Package interop opens the project's frozen envelopes with stock tink-go, and
// thereby holds the filter's format and Tink's apart from each other's mistakes.
package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/fieldveil/fieldveil/keys/internal/envelope/envelopetest"
)

const frozen = "../../filters/crypto/envelope/testdata/v1.json"

type vectorFile struct {
	Keysets map[string]json.RawMessage `json:"keysets"`
	Vectors []vector                   `json:"vectors"`
}

type vector struct {
	Name         string `json:"name"`
	Keyset       string `json:"keyset"`
	Protection   string `json:"protection"`
	Label        string `json:"label"`
	Tenant       string `json:"tenant"`
	PlaintextHex string `json:"plaintext_hex"`
	EnvelopeHex  string `json:"envelope_hex"`
	Armored      string `json:"armored"`
}

func TestStockTinkOpensEveryFrozenEnvelope(t *testing.T) {
	file := readVectors(t)
	protections := map[string]int{}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			plaintext, raw := unhex(t, v.PlaintextHex), unhex(t, v.EnvelopeHex)
			keysets := keysetsFor(t, file, v)
			field := envelopetest.Field{Label: v.Label, Tenant: v.Tenant}

			for form, stored := range map[string][]byte{"raw": raw, "armored": []byte(v.Armored)} {
				opened, err := keysets.Open(field, stored)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if !bytes.Equal(opened, plaintext) {
					t.Fatalf("%s: opened %x, not %x", form, opened, plaintext)
				}
			}
			if armored := envelopetest.Armor(raw); armored != v.Armored {
				t.Errorf("armored is %q, not %q", armored, v.Armored)
			}
			if _, err := keysets.Open(envelopetest.Field{Label: v.Label, Tenant: v.Tenant + "x"}, raw); err == nil {
				t.Error("it opens for another tenant")
			}
		})
		protections[v.Protection]++
	}
	if protections["randomized"] == 0 || protections["deterministic"] == 0 {
		t.Errorf("too few vectors to prove anything: %v", protections)
	}
}

// An equality search works only if every implementation seals to the same bytes.
func TestStockTinkSealsFrozenDeterministicEnvelopesToTheSameBytes(t *testing.T) {
	file := readVectors(t)
	compared := 0
	for _, v := range file.Vectors {
		if v.Protection != "deterministic" {
			continue
		}
		raw := unhex(t, v.EnvelopeHex)
		keysets := keysetsFor(t, file, v)
		if !sealedByPrimary(keysets.Deterministic, raw) {
			continue // sealed before its keyset was rotated
		}
		compared++
		sealed, err := keysets.SealDeterministic(envelopetest.Field{Label: v.Label, Tenant: v.Tenant}, unhex(t, v.PlaintextHex))
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		if !bytes.Equal(sealed, raw) {
			t.Errorf("%s: sealed %x, not %x", v.Name, sealed, raw)
		}
	}
	if compared == 0 {
		t.Error("no deterministic vector was compared")
	}
}

func readVectors(t *testing.T) *vectorFile {
	t.Helper()
	file := &vectorFile{}
	readJSON(t, frozen, file)
	return file
}

func keysetsFor(t *testing.T, file *vectorFile, v vector) envelopetest.Keysets {
	t.Helper()
	handle := cleartext(t, file.Keysets[v.Keyset])
	switch v.Protection {
	case "randomized":
		if _, err := aead.New(handle); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		return envelopetest.Keysets{AEAD: handle}
	case "deterministic":
		if _, err := daead.New(handle); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		return envelopetest.Keysets{Deterministic: handle}
	}
	t.Fatalf("%s: protection %q is not known to this test", v.Name, v.Protection)
	return envelopetest.Keysets{}
}

func sealedByPrimary(handle *keyset.Handle, raw []byte) bool {
	id := handle.KeysetInfo().GetPrimaryKeyId()
	return bytes.Equal(raw[7:11], []byte{byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)})
}

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
