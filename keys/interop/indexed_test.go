package interop

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"

	"github.com/fieldveil/fieldveil/keys/internal/envelope/envelopetest"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestStockTinkOpensEveryFrozenIndexedEnvelopeAndComputesItsIndex(t *testing.T) {
	var file struct {
		Keysets map[string]struct {
			AEAD json.RawMessage `json:"aead"`
			PRF  json.RawMessage `json:"prf"`
		} `json:"keysets"`
		Vectors []vector `json:"vectors"`
	}
	readJSON(t, "../../filters/crypto/envelope/testdata/v2.json", &file)
	for _, v := range file.Vectors {
		keysets := envelopetest.Keysets{AEAD: cleartext(t, file.Keysets[v.Keyset].AEAD), PRF: cleartext(t, file.Keysets[v.Keyset].PRF)}
		field, plaintext, raw := envelopetest.Field{Label: v.Label, Tenant: v.Tenant}, unhex(t, v.PlaintextHex), unhex(t, v.EnvelopeHex)
		for form, stored := range map[string][]byte{"raw": raw, "armored": []byte(v.Armored)} {
			if opened, err := keysets.Open(field, stored); err != nil || !bytes.Equal(opened, plaintext) {
				t.Errorf("%s, %s: opened %x: %v", v.Name, form, opened, err)
			}
		}
		again, err := keysets.SealIndexed(field, plaintext)
		if err != nil {
			t.Fatal(err)
		}
		// Magic, version, label tag and index: what a search compares.
		if !bytes.Equal(again[:22], raw[:22]) {
			t.Errorf("%s: sealed again it begins with %x, not %x", v.Name, again[:22], raw[:22])
		}
	}
	if len(file.Vectors) < 26 {
		t.Errorf("%d vectors, and there were 26: they may grow, never shrink", len(file.Vectors))
	}
}

func TestStockTinkComputesTheFrozenPRFOutputs(t *testing.T) {
	var file struct {
		Keysets map[string]json.RawMessage `json:"keysets"`
		Vectors []struct {
			Keyset    string `json:"keyset"`
			InputHex  string `json:"input_hex"`
			OutputHex string `json:"output_hex"`
		} `json:"vectors"`
	}
	readJSON(t, "../../filters/crypto/tink/testdata/prf.json", &file)
	for i, v := range file.Vectors {
		set, err := prf.NewPRFSet(cleartext(t, file.Keysets[v.Keyset]))
		if err != nil {
			t.Fatal(err)
		}
		want := unhex(t, v.OutputHex)
		got, err := set.ComputePrimaryPRF(unhex(t, v.InputHex), uint32(len(want)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("vector %d, %s: %x: %v", i, v.Keyset, got, err)
		}
	}
	if len(file.Vectors) < 71 {
		t.Errorf("%d vectors, and there were 71: they may grow, never shrink", len(file.Vectors))
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text := testfile.Read(t, path)
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func cleartext(t *testing.T, text json.RawMessage) *keyset.Handle {
	t.Helper()
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return handle
}
