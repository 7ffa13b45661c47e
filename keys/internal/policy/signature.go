package policy

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Signature says how a bundle is signed.
type Signature struct {
	Key   *SigningKey
	KeyID string // the name of the key in OPA's configuration
	Scope string // what the key signs here: OPA takes a bundle of its own scope alone
}

// sign puts the one signature into a bundle: a JSON Web Token whose claims are the
// hashes of its files. Not with OPA's own signer, which draws random numbers for
// elliptic curves: the same bundle has the same signature.
func (s *Signature) sign(b *bundle.Bundle) error {
	files, err := hashes(b)
	if err != nil {
		return err
	}
	claims := map[string]any{"files": files, "keyid": s.KeyID}
	if s.Scope != "" {
		claims["scope"] = s.Scope
	}
	header, err := json.Marshal(map[string]string{"alg": s.Key.Algorithm, "kid": s.KeyID, "typ": "JWT"})
	if err != nil {
		return err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return err
	}
	signed := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	signature, err := s.Key.signText(signed)
	if err != nil {
		return err
	}
	b.Signatures = bundle.SignaturesConfig{Signatures: []string{signed + "." + base64.RawURLEncoding.EncodeToString(signature)}}
	return nil
}

// hashes are those of all files as OPA computes them: of a file of Rego its bytes,
// of data their meaning.
func hashes(b *bundle.Bundle) ([]bundle.FileInfo, error) {
	hasher, err := bundle.NewSignatureHasher(bundle.SHA256)
	if err != nil {
		return nil, err
	}
	manifest, err := asJSON(b.Manifest)
	if err != nil {
		return nil, err
	}
	var files []bundle.FileInfo
	add := func(name string, content any) error {
		hash, err := hasher.HashFile(content)
		files = append(files, bundle.NewFile(name, hex.EncodeToString(hash), string(bundle.SHA256)))
		return err
	}
	for _, module := range b.Modules {
		if err := add(module.Path, module.Raw); err != nil {
			return nil, err
		}
	}
	if err := add("data.json", b.Data); err != nil {
		return nil, err
	}
	return files, add(bundle.ManifestExt, manifest)
}

func asJSON(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var document any
	return document, json.Unmarshal(text, &document)
}

// signText is the signature of RFC 7515: for an elliptic curve both numbers at
// their full length. Without a source of random numbers Go's are those of RFC 6979.
func (k *SigningKey) signText(text string) ([]byte, error) {
	hash := map[string]crypto.Hash{"RS256": crypto.SHA256, "ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512}[k.Algorithm]
	hasher := hash.New()
	hasher.Write([]byte(text))
	signature, err := k.private.Sign(nil, hasher.Sum(nil), hash)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	private, elliptic := k.private.(*ecdsa.PrivateKey)
	if !elliptic {
		return signature, nil
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &numbers); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	size := (private.Params().BitSize + 7) / 8
	return append(numbers.R.FillBytes(make([]byte, size)), numbers.S.FillBytes(make([]byte, size))...), nil
}

// verify reads a bundle as OPA will that has the public half of the key.
func (s *Signature) verify(content []byte, place string) error {
	public, err := s.Key.publicPEM()
	if err != nil {
		return fault.Failure(place, "its signature can not be verified ("+err.Error()+")", "try again")
	}
	keys := map[string]*bundle.KeyConfig{s.KeyID: {Key: public, Algorithm: s.Key.Algorithm}}
	reader := bundle.NewReader(bytes.NewReader(content)).
		WithBundleVerificationConfig(bundle.NewVerificationConfig(keys, "", s.Scope, nil))
	if _, err := reader.Read(); err != nil {
		return fault.Failure(place, "OPA would not take the bundle ("+err.Error()+")", "report it with the policies that it was built from")
	}
	return nil
}
