package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/loader"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// signer signs bundles in OPA's way.
type signer struct {
	algorithm, private, public string
}

func newSigner(t *testing.T, algorithm string) signer {
	t.Helper()
	var private crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "RS256":
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	case "EdDSA":
		_, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return signer{
		algorithm: algorithm,
		private:   string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		public:    write(t, "public.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: shown})),
	}
}

// examplesBundle is the examples and the library as a bundle.
func examplesBundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	read, err := loader.NewFileLoader().WithFilter(loader.GlobExcludeName("*_test.rego", 1)).AsBundle(examples)
	if err != nil {
		t.Fatal(err)
	}
	read.Manifest.Revision = "r1"
	return read
}

func (s signer) sign(t *testing.T, b *bundle.Bundle, scope string) {
	t.Helper()
	claims := write(t, "claims.json", []byte(`{"scope":"`+scope+`","keyid":"policy"}`))
	if err := b.GenerateSignature(bundle.NewSigningConfig(s.private, s.algorithm, claims), "policy", false); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, b *bundle.Bundle) string {
	t.Helper()
	var content bytes.Buffer
	if err := bundle.NewWriter(&content).DisableFormat(true).Write(*b); err != nil {
		t.Fatal(err)
	}
	return write(t, "bundle.tar.gz", content.Bytes())
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	testfile.Write(t, file, content)
	return file
}

// packed is an archive of one file.
func packed(t *testing.T, name, content string, size int64) string {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	tarred := tar.NewWriter(zipped)
	if err := tarred.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(tarred, content); err != nil {
		t.Fatal(err)
	}
	// Not closed: it may be shorter than it says.
	if err := tarred.Flush(); err != nil && size == int64(len(content)) {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "bundle.tar.gz", archive.Bytes())
}

func TestSignedBundleIsTakenWithItsKeyAlone(t *testing.T) {
	right, other := newSigner(t, "ES256"), newSigner(t, "ES256")
	signed, altered := examplesBundle(t), examplesBundle(t)
	bundles := map[string]string{"unsigned": written(t, signed)}
	right.sign(t, signed, "fieldveil")
	right.sign(t, altered, "fieldveil")
	altered.Data["rules"] = map[string]any{}
	bundles["signed"], bundles["altered"] = written(t, signed), written(t, altered)
	for _, c := range []struct {
		bundle, key, scope, reason string
	}{
		{"signed", right.public, "fieldveil", ""},
		{"signed", "", "", ""},
		{"unsigned", "", "", ""},
		{"signed", other.public, "fieldveil", "failed to verify JWT signature"},
		{"signed", right.public, "", "scope mismatch"},
		{"altered", right.public, "fieldveil", "data.json"},
		{"unsigned", right.public, "fieldveil", "missing .signatures.json"},
	} {
		_, err := Load([]string{bundles[c.bundle]}, Options{VerificationKey: c.key, VerificationScope: c.scope})
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s: %v", c.bundle, err)
		case c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason) || !strings.HasPrefix(err.Error(), bundles[c.bundle]+": OPA does not take it")):
			t.Errorf("%s with %s and scope %q: %v", c.bundle, c.key, c.scope, err)
		}
	}
}

func TestAlgorithmIsThatOfTheVerificationKey(t *testing.T) {
	for _, algorithm := range []string{"RS256", "EdDSA"} {
		s, b := newSigner(t, algorithm), examplesBundle(t)
		s.sign(t, b, "fieldveil")
		if _, err := Load([]string{written(t, b)}, Options{VerificationKey: s.public, VerificationScope: "fieldveil"}); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

func TestBundleBringsItsLibraryAndItsRevision(t *testing.T) {
	p, err := Load([]string{written(t, examplesBundle(t))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.BuiltInLibrary {
		t.Error("the bundle's library was not taken")
	}
	value, _, err := p.Evaluate(context.Background(), "[m.manifest.revision | some m in data.system.bundles]", nil, time.Now())
	if revisions, ok := value.([]any); err != nil || !ok || len(revisions) != 1 || revisions[0] != "r1" {
		t.Error(value, err)
	}
}

func TestFaultsWithinABundleAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		more    int64
		reason  string
	}{
		"rules/shop/data.json":   {`{"rules": }`, 0, "/rules/shop/data.json:1:11: not JSON"},
		"rules/shop/data.yaml":   {"rules: []\nrules: []\n", 0, "/rules/shop/data.yaml:2:1: rules.shop.rules: the key stands here a second time"},
		"custom/custom.rego":     {"package custom\n\nx := ", 0, "/custom/custom.rego:3:5: rego_parse_error"},
		"catalog/shop/data.json": {"{}", maxBytes, ": longer than 64 MiB"},
		"catalog/shop/data.yaml": {"a: 1", 1, ": not a bundle (unexpected EOF)"},
	} {
		file := packed(t, name, c.content, int64(len(c.content))+c.more)
		if _, err := Load([]string{file}, Options{}); err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
