package interop

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/prf"
)

var alphabets = map[string]string{
	"digits":             "0123456789",
	"alphanumeric_lower": "0123456789abcdefghijklmnopqrstuvwxyz",
	"alphanumeric_upper": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"alphanumeric":       "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}

func TestFrozenFormatPreservingValuesAreFF1UnderTheKeyThatStockTinkComputes(t *testing.T) {
	var file struct {
		Keysets map[string]json.RawMessage `json:"keysets"`
		Vectors []struct {
			Keyset, Label, Tenant, Alphabet, Plaintext, Stored string
			KeyHex                                             string `json:"key_hex"`
		} `json:"vectors"`
	}
	readJSON(t, "../../filters/crypto/ff1/testdata/v1.json", &file)
	for _, v := range file.Vectors {
		set, err := prf.NewPRFSet(cleartext(t, file.Keysets[v.Keyset]))
		if err != nil {
			t.Fatal(err)
		}
		key, err := set.ComputePrimaryPRF([]byte("fieldveil/ff1/v1\x00"+v.Label+"\x00"+v.Tenant), 32)
		if err != nil || !bytes.Equal(key, unhex(t, v.KeyHex)) {
			t.Errorf("%s of %q: key %x: %v", v.Label, v.Tenant, key, err)
		}
		if stored := ff1(t, key, nil, alphabets[v.Alphabet], v.Plaintext); stored != v.Stored {
			t.Errorf("%s %s: stored as %s, not %s", v.Label, v.Plaintext, stored, v.Stored)
		}
	}
	if len(file.Vectors) < 20 {
		t.Errorf("%d vectors, and there were 20: they may grow, never shrink", len(file.Vectors))
	}
}

// Samples 8 and 9 of NIST's FF1samples.pdf hold the function below to the standard.
func TestFF1OfTheseTestsIsNISTs(t *testing.T) {
	key := unhex(t, "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94")
	if got := ff1(t, key, unhex(t, "39383736353433323130"), alphabets["digits"], "0123456789"); got != "1001623463" {
		t.Errorf("sample 8: %s", got)
	}
	if got := ff1(t, key, unhex(t, "3737373770717273373737"), alphabets["alphanumeric_lower"], "0123456789abcdefghi"); got != "xs8a0azh2avyalyzuwd" {
		t.Errorf("sample 9: %s", got)
	}
}

// ff1 is FF1.Encrypt of NIST SP 800-38G, written from the standard (algorithm 7)
// so that the filter's library is held to something that shares nothing with it.
func ff1(t *testing.T, key, tweak []byte, alphabet, text string) string {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	radix, n := len(alphabet), len(text)
	u := n / 2
	v := n - u
	a, b := text[:u], text[u:]
	// 3. and 4.: the bytes of the greatest number of v numerals, and of S.
	greatest := new(big.Int).Exp(big.NewInt(int64(radix)), big.NewInt(int64(v)), nil)
	byteLength := (greatest.Sub(greatest, big.NewInt(1)).BitLen() + 7) / 8
	d := 4*((byteLength+3)/4) + 4
	p := []byte{1, 2, 1, 0, 0, byte(radix), 10, byte(u)}
	p = binary.BigEndian.AppendUint32(p, uint32(n))
	p = binary.BigEndian.AppendUint32(p, uint32(len(tweak)))
	for i := range 10 {
		q := bytes.Clone(tweak)
		for (len(q)+1+byteLength)%16 != 0 {
			q = append(q, 0)
		}
		q = append(append(q, byte(i)), number(alphabet, b).FillBytes(make([]byte, byteLength))...)
		input := append(bytes.Clone(p), q...)
		output := make([]byte, len(input))
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(output, input)
		r := output[len(output)-16:]
		s := bytes.Clone(r)
		for j := uint64(1); len(s) < d; j++ {
			masked := bytes.Clone(r)
			binary.BigEndian.PutUint64(masked[8:], binary.BigEndian.Uint64(masked[8:])^j)
			block.Encrypt(masked, masked)
			s = append(s, masked...)
		}
		m := u
		if i%2 == 1 {
			m = v
		}
		c := new(big.Int).Add(number(alphabet, a), new(big.Int).SetBytes(s[:d]))
		a, b = b, numerals(alphabet, c, m)
	}
	return a + b
}

func number(alphabet, text string) *big.Int {
	result := new(big.Int)
	for _, character := range text {
		result.Mul(result, big.NewInt(int64(len(alphabet))))
		result.Add(result, big.NewInt(int64(strings.IndexRune(alphabet, character))))
	}
	return result
}

// numerals are the last m of a number.
func numerals(alphabet string, number *big.Int, m int) string {
	text, radix, digit := make([]byte, m), big.NewInt(int64(len(alphabet))), new(big.Int)
	for i := range text {
		number.DivMod(number, radix, digit)
		text[m-1-i] = alphabet[digit.Int64()]
	}
	return string(text)
}
