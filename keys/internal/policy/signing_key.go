package policy

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// minRSABits is what NIST SP 800-131A asks of a key that signs.
const minRSABits = 2048

// maxKeyBytes is far above the some 12,000 bytes of an RSA key of 16,384 bits in PEM.
const maxKeyBytes = 64 << 10

const makeSigningKey = "make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out policy.pem"

// SigningKey is the private key of a bundle's signature. Its text is nowhere in a
// bundle, an error or a log.
type SigningKey struct {
	private   crypto.Signer
	Algorithm string // as JSON Web Signature calls it: RS256, ES256, ES384 or ES512
}

// ReadSigningKey reads a private key in PEM from a file that nobody else can read.
func ReadSigningKey(name string) (*SigningKey, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(name, "there is no such key", makeSigningKey)
	case err != nil:
		return nil, fault.Unreadable(name, err)
	}
	text, err := regularfile.Read(name, maxKeyBytes)
	if err != nil {
		return nil, fault.Input(name, fault.Cause(err), "name a private key in PEM")
	}
	if block, _ := pem.Decode(text); block != nil && block.Type == "PUBLIC KEY" {
		return nil, fault.Input(name, "it is a public key, which verifies and signs nothing", "name the private key that belongs to it")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.Input(name, "others than its owner can read it", "chmod 600, and make another key if somebody may have")
	}
	private, reason := parsePrivateKey(text)
	if reason != "" {
		return nil, fault.Input(name, reason, makeSigningKey)
	}
	return &SigningKey{private: private, Algorithm: algorithmOf(private.Public())}, nil
}

// parsePrivateKey gives the key, or why there is none. What parsers say may quote
// the key, and is not passed on.
func parsePrivateKey(text []byte) (private crypto.Signer, reason string) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var parsed any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			parsed, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, "the key is encrypted with a passphrase, which nobody is asked for"
		case "EC PARAMETERS":
			continue
		default:
			return nil, "it holds something else than a private key"
		}
		if err != nil {
			return nil, "its private key can not be read"
		}
		return signerOf(parsed)
	}
	return nil, "not PEM"
}

func signerOf(parsed any) (private crypto.Signer, reason string) {
	switch key := parsed.(type) {
	case ed25519.PrivateKey:
		return nil, "an Ed25519 key, of which OPA takes no signature on bundles"
	case *rsa.PrivateKey:
		if key.N.BitLen() < minRSABits {
			return nil, "an RSA key of less than 2,048 bits"
		}
		return key, ""
	case *ecdsa.PrivateKey:
		if algorithmOf(key.Public()) != "" {
			return key, ""
		}
	}
	return nil, "a key of a kind that signs no bundle"
}

// algorithmOf is the algorithm that OPA must be told for a public key; empty for
// one that signs no bundle.
func algorithmOf(public crypto.PublicKey) string {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return "RS256"
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return "ES256"
		case elliptic.P384():
			return "ES384"
		case elliptic.P521():
			return "ES512"
		}
	}
	return ""
}

// publicPEM is the other half, as OPA reads it.
func (k *SigningKey) publicPEM() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}
