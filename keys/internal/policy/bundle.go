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

// readBundle reads a bundle. Where OPA would not take it for what a file in it says,
// that is told with its place; a signature that is asked for comes first.
func readBundle(content []byte, place string, signed *bundle.VerificationConfig) ([]file, map[string]any, error) {
	files, err := bundleFiles(content, place)
	if err != nil {
		return nil, nil, err
	}
	manifest, refused := verifyBundle(content, place, signed)
	if refused != nil && signed == nil {
		err = newPolicy().add(files).orNil()
	}
	if err == nil {
		err = refused
	}
	return files, manifest, err
}

// verification is what a bundle's signature is held to; nil where it is not looked at.
func (o Options) verification() (*bundle.VerificationConfig, error) {
	if o.VerificationKey == "" {
		return nil, nil
	}
	key, err := readVerificationKey(o.VerificationKey)
	if err != nil {
		return nil, err
	}
	// There is one key, whatever name the signature has for it.
	const name = "key"
	return bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{name: key}, name, o.VerificationScope, nil), nil
}

// verifyBundle lets OPA read a bundle as it would from its server, signature and
// all, and gives the manifest.
func verifyBundle(content []byte, place string, signed *bundle.VerificationConfig) (map[string]any, error) {
	reader := bundle.NewReader(bytes.NewReader(content)).WithSizeLimitBytes(maxBytes).WithCapabilities(offline()).WithProcessAnnotations(true).
		WithBundleVerificationConfig(signed).WithSkipBundleVerification(signed == nil)
	read, err := reader.Read()
	if err != nil {
		reason, remedy := "OPA does not take it ("+err.Error()+")", "build it anew with: fieldveil policy build"
		if signed != nil {
			remedy += ", signed for --verification-key and --verification-scope"
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
