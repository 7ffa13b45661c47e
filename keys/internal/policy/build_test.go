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
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestBuiltBundleDecidesAsTheFolderItIsMadeOf(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256", "ES384", "ES512"} {
		private, public := keyFiles(t, algorithm)
		built := build(t, ownPolicies(t), "r1", signed(t, private))
		file := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
		testfile.Write(t, file, built.Content)
		p, err := Load([]string{file}, Options{VerificationKey: public, VerificationScope: "fieldveil"})
		if err != nil {
			t.Fatalf("%s: %v", algorithm, err)
		}
		if p.BuiltInLibrary {
			t.Errorf("%s: the bundle does not hold the library", algorithm)
		}
		input := map[string]any{"protocol": "postgres", "session": map[string]any{"user": "billing", "database": "shop"}}
		value, defined, err := p.Evaluate(context.Background(), "data.fieldveil.plan", input, time.Now())
		if err != nil || !defined {
			t.Fatalf("%s: no plan: %v", algorithm, err)
		}
		if revision := value.(map[string]any)["bundle"]; revision != "r1" {
			t.Errorf("%s: the plan is of bundle %q", algorithm, revision)
		}
	}
}

func TestBundleIsRefusedWithAnotherKey(t *testing.T) {
	private, _ := keyFiles(t, "ES256")
	_, other := keyFiles(t, "ES256")
	file := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	testfile.Write(t, file, build(t, ownPolicies(t), "r1", signed(t, private)).Content)
	if _, err := Load([]string{file}, Options{VerificationKey: other, VerificationScope: "fieldveil"}); err == nil {
		t.Error("the bundle is taken for one of another key's")
	}
}

func TestSamePoliciesRevisionAndKeyMakeTheSameBytes(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256"} {
		private, _ := keyFiles(t, algorithm)
		first := build(t, ownPolicies(t), "", signed(t, private))
		second := build(t, ownPolicies(t), "", signed(t, private))
		if !bytes.Equal(first.Content, second.Content) || first.Revision != second.Revision {
			t.Errorf("%s: two builds differ: %s, %s", algorithm, first.Revision, second.Revision)
		}
	}
}

func TestRevisionByDefaultChangesWithTheContent(t *testing.T) {
	before, folder := build(t, ownPolicies(t), "", nil), ownPolicies(t)
	more := filepath.Join(folder, "rules", "more", "data.yaml")
	testfile.Write(t, more, "rules: [{name: n, who: {session: {user: [nobody]}}, labels: ['**'], write: refuse}]\n")
	if after := build(t, folder, "", nil); after.Revision == before.Revision {
		t.Errorf("both are %s", after.Revision)
	}
}

func TestBundleHoldsNothingButPolicies(t *testing.T) {
	private, _ := keyFiles(t, "ES256")
	folder := ownPolicies(t)
	secret := testfile.Read(t, private)
	testfile.Write(t, filepath.Join(folder, "policy.pem"), secret)
	testfile.Write(t, filepath.Join(folder, ".env"), "PASSWORD=hunter2")
	testfile.Write(t, filepath.Join(folder, "rules", "shop", "shop_test.rego"), "package shop_test\n")
	files := unpack(t, build(t, folder, "r1", signed(t, private)).Content)
	for name, content := range files {
		owned := name == "data.json" || name == ".manifest" || name == ".signatures.json" ||
			strings.HasPrefix(name, "fieldveil/") || name == "system/log/log.rego"
		if !owned || strings.HasSuffix(name, "_test.rego") {
			t.Errorf("%s is in the bundle", name)
		}
		if bytes.Contains(content, []byte("PRIVATE KEY")) || bytes.Contains(content, []byte("hunter2")) {
			t.Errorf("%s holds a secret", name)
		}
	}
	if len(files["fieldveil/plan.rego"]) == 0 || len(files["system/log/log.rego"]) == 0 {
		t.Error("the library or the mask of decision logs is missing")
	}
}

func TestBundleOwnsWhatItMust(t *testing.T) {
	read, err := bundle.NewReader(bytes.NewReader(build(t, ownPolicies(t), "r1", nil).Content)).Read()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"catalog", "fieldveil", "rules", "schemas", "system/log", "tokens"}; !slices.Equal(*read.Manifest.Roots, want) {
		t.Errorf("it owns %v", *read.Manifest.Roots)
	}
}

func TestWhatABundleWouldNotOwnIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"acme/data.yaml":       "key: value\n",
		"system/log/data.yaml": "key: value\n",
		"acme/acme.rego":       "package acme\n\nx := 1\n",
		"system/other.rego":    "package system.authz\n\nallow := true\n",
	} {
		folder := ownPolicies(t)
		testfile.Write(t, filepath.Join(folder, name), content)
		if err := buildError(t, folder); !strings.Contains(err, "outside what a bundle owns") || !strings.Contains(err, name) {
			t.Errorf("%s: %s", name, err)
		}
	}
}

func TestLibraryWithoutTheMaskOfDecisionLogsIsRefused(t *testing.T) {
	folder := ownPolicies(t)
	for _, part := range []string{"fieldveil", "schemas"} {
		testfile.CopyFolder(t, filepath.Join(folder, part), filepath.Join(examples, part))
	}
	if err := buildError(t, folder); !strings.Contains(err, "system.log") {
		t.Error(err)
	}
}

func TestRevisionsThatPlansCanNotCarryAreRefused(t *testing.T) {
	p, err := Load([]string{ownPolicies(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"a,b", "a b", "-", "a\nb", strings.Repeat("a", 129)} {
		if _, err := p.Build("here", revision, nil); err == nil {
			t.Errorf("%q is taken", revision)
		}
	}
}

func TestSigningKeysThatAreNoneAreRefused(t *testing.T) {
	folder := t.TempDir()
	private, public := keyFiles(t, "ES256")
	open := filepath.Join(folder, "open.pem")
	text, _ := os.ReadFile(private)
	testfile.Write(t, open, text)
	for name, mode := range map[string]os.FileMode{open: 0o640, public: 0o644} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	small, _ := rsa.GenerateKey(rand.Reader, 1024)
	_, edwards, _ := ed25519.GenerateKey(rand.Reader)
	p224, _ := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	noKey, encrypted := filepath.Join(folder, "no.pem"), filepath.Join(folder, "encrypted.pem")
	testfile.Write(t, noKey, "hunter2")
	testfile.Write(t, encrypted, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("hunter2")}))
	for file, reason := range map[string]string{
		open:                           "others than its owner",
		public:                         "it is a public key",
		pkcs8(t, folder, "s", small):   "2,048 bits",
		pkcs8(t, folder, "e", edwards): "Ed25519",
		pkcs8(t, folder, "p", p224):    "signs no bundle",
		noKey:                          "not PEM",
		encrypted:                      "passphrase",
		filepath.Join(folder, "none"):  "no such key",
		folder:                         "",
	} {
		if _, err := ReadSigningKey(file); err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, not %q", file, err, reason)
		}
	}
}

func build(t *testing.T, folder, revision string, signature *Signature) *Built {
	t.Helper()
	p, err := Load([]string{folder}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	built, err := p.Build(folder, revision, signature)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func buildError(t *testing.T, folder string) string {
	t.Helper()
	p, err := Load([]string{folder}, Options{})
	if err == nil {
		_, err = p.Build(folder, "r1", nil)
	}
	if err == nil {
		t.Fatalf("%s is built", folder)
	}
	return err.Error()
}

func signed(t *testing.T, private string) *Signature {
	t.Helper()
	key, err := ReadSigningKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return &Signature{Key: key, KeyID: "policy", Scope: "fieldveil"}
}

// keyFiles is a key pair in two files.
func keyFiles(t *testing.T, algorithm string) (private, public string) {
	t.Helper()
	folder := t.TempDir()
	curve, elliptical := map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}[algorithm]
	var key crypto.Signer
	var err error
	if elliptical {
		key, err = ecdsa.GenerateKey(curve, rand.Reader)
	} else {
		key, err = rsa.GenerateKey(rand.Reader, minRSABits)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pkcs8(t, folder, "policy", key), spki(t, folder, key.Public())
}

func pkcs8(t *testing.T, folder, name string, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, name+".pem")
	testfile.Write(t, file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return file
}

func spki(t *testing.T, folder string, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "policy.pub.pem")
	testfile.Write(t, file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	return file
}

func unpack(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[strings.TrimPrefix(header.Name, "/")], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
