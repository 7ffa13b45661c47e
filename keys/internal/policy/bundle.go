package policy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// verifyBundle lets OPA read a bundle as it would from its server, signature and
// all, and gives the manifest. Without a key signatures are not looked at.
func verifyBundle(content []byte, place, keyFile string) (map[string]any, error) {
	reader := bundle.NewReader(bytes.NewReader(content)).WithSizeLimitBytes(maxBytes).WithCapabilities(offline()).WithProcessAnnotations(true)
	if keyFile == "" {
		reader = reader.WithSkipBundleVerification(true)
	} else {
		key, err := readVerificationKey(keyFile)
		if err != nil {
			return nil, err
		}
		// The name is the key's own for want of another; the signature's is not asked for.
		reader = reader.WithBundleVerificationConfig(bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{"key": key}, "key", "", nil))
	}
	read, err := reader.Read()
	if err != nil {
		reason, remedy := "OPA does not take it ("+err.Error()+")", "build it anew with: opa build --bundle"
		if keyFile != "" {
			remedy += ", signed with the private key of " + keyFile
		}
		return nil, fault.Input(place, reason, remedy)
	}
	encoded, err := json.Marshal(read.Manifest)
	if err != nil {
		return nil, fault.Input(place, "its manifest can not be read ("+err.Error()+")", "build it anew")
	}
	manifest := map[string]any{}
	return manifest, json.Unmarshal(encoded, &manifest)
}

func readVerificationKey(name string) (*bundle.KeyConfig, error) {
	const remedy = "name the public key in PEM: of RSA, of an elliptic curve, or Ed25519"
	text, err := readBounded(name, remedy)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fault.Input(name, "not PEM", remedy)
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fault.Input(name, "not a public key", remedy)
	}
	key := &bundle.KeyConfig{Key: string(text)}
	switch public := public.(type) {
	case *rsa.PublicKey:
		key.Algorithm = "RS256"
	case ed25519.PublicKey:
		key.Algorithm = "EdDSA"
	case *ecdsa.PublicKey:
		key.Algorithm = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[public.Curve.Params().BitSize]
	}
	if key.Algorithm == "" {
		return nil, fault.Input(name, "a key of a kind that signs no bundle", remedy)
	}
	return key, nil
}
