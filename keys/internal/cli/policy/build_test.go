package policy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestPolicyBuildMakesABundleThatPolicyCheckTakes(t *testing.T) {
	private, public := signingKey(t)
	out := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	status, output, errors := run(t, "policy", "build", "../../../../policies", "--out", out, "--signing-key", private, "--revision", "r1")
	if status != 0 || !strings.Contains(output, "revision r1, signed with ES256, key policy, scope fieldveil") {
		t.Fatalf("status %d: %s%s", status, output, errors)
	}
	if status, output, errors := run(t, "policy", "check", out, "--verification-key", public); status != 0 {
		t.Errorf("status %d: %s%s", status, output, errors)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a server can't read it: %v, %v", info.Mode(), err)
	}
}

func TestPolicyBuildTellsItsResultAsJSON(t *testing.T) {
	private, _ := signingKey(t)
	out := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	_, output, _ := run(t, "policy", "build", "../../../../policies", "--out", out, "--signing-key", private, "--output", "json")
	var told struct {
		Bundle, Revision, Algorithm string
		Signed                      bool
		Counts                      struct{ Labels int }
	}
	if err := json.Unmarshal([]byte(output), &told); err != nil || told.Bundle != out || len(told.Revision) != 16 ||
		told.Algorithm != "ES256" || !told.Signed || told.Counts.Labels == 0 {
		t.Errorf("%v: %s", err, output)
	}
}

func TestPolicyBuildLeavesTheFormerBundleWhereSomethingIsWrong(t *testing.T) {
	private, _ := signingKey(t)
	folder := t.TempDir()
	rules := filepath.Join(folder, "rules", "shop", "data.yaml")
	testfile.Write(t, rules, "rules: [{name: n, who: {session: {user: [a]}}, labels: [no.such.label], write: refuse}]\n")
	out := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	former := "\x1f\x8b the former bundle"
	testfile.Write(t, out, former)
	status, output, errors := run(t, "policy", "build", folder, "--out", out, "--signing-key", private)
	if status != 2 || output != "" || !strings.Contains(errors, rules+":1:") {
		t.Errorf("status %d: %s%s", status, output, errors)
	}
	if content, err := os.ReadFile(out); err != nil || string(content) != former {
		t.Errorf("%v: %s", err, content)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPolicyBuildWantsAKeyOrToBeToldThatThereIsNone(t *testing.T) {
	private, _ := signingKey(t)
	out := filepath.Join(t.TempDir(), "fieldveil.tar.gz")
	for _, c := range []struct {
		words []string
		says  string
	}{
		{[]string{"--signing-key", private}, "--out: not given"},
		{[]string{"--out", out}, "--signing-key: not given"},
		{[]string{"--out", out, "--signing-key", private, "--unsigned"}, "a signing key is given as well"},
		{[]string{"--out", out, "--signing-key", private, "--key-id", ""}, "--key-id: empty"},
		{[]string{"--out", out, "--signing-key", private, "--revision", "a,b"}, "not a revision"},
		{[]string{"--out", filepath.Join(out, "x"), "--signing-key", private}, "its folder does not exist"},
	} {
		status, output, errors := run(t, append([]string{"policy", "build", "../../../../policies"}, c.words...)...)
		if status != 2 || output != "" || !strings.Contains(errors, c.says) {
			t.Errorf("%v: status %d: %s%s", c.words, status, output, errors)
		}
	}
	if status, output, errors := run(t, "policy", "build", "../../../../policies", "--out", out, "--unsigned"); status != 0 || !strings.Contains(output, "not signed") {
		t.Errorf("status %d: %s%s", status, output, errors)
	}
}

func TestPolicyBuildTakesThePlaceOfABundleAlone(t *testing.T) {
	private, public := signingKey(t)
	folder := t.TempDir()
	bundle, link, notes := filepath.Join(folder, "a.tar.gz"), filepath.Join(folder, "link"), filepath.Join(folder, "notes")
	device := filepath.Join(folder, "device")
	testfile.Write(t, notes, "not to be lost")
	if err := errors.Join(os.Symlink(notes, link), syscall.Mkfifo(device, 0o600)); err != nil {
		t.Fatal(err)
	}
	build := func(out string) (int, string) {
		status, _, errors := run(t, "policy", "build", "../../../../policies", "--out", out, "--signing-key", private, "--verification-key", public)
		return status, errors
	}
	for out, says := range map[string]string{
		private: "this is a key", public: "this is a key", link: "a symbolic link", device: "no regular file",
		folder: "no regular file", notes: "no bundle",
	} {
		if status, errors := build(out); status != 2 || !strings.Contains(errors, out+": ") || !strings.Contains(errors, says) {
			t.Errorf("%s: status %d: %s", out, status, errors)
		}
	}
	if text, err := os.ReadFile(link); err != nil || string(text) != "not to be lost" {
		t.Errorf("%v: %s", err, text)
	}
	for range 2 { // a new file, and in the place of the bundle
		if status, errors := build(bundle); status != 0 {
			t.Errorf("status %d: %s", status, errors)
		}
	}
}

func signingKey(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	private, public = filepath.Join(folder, "policy.pem"), filepath.Join(folder, "policy.pub.pem")
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	// As openssl ecparam writes it, with the curve before the key.
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}})
	text := bytes.Join([][]byte{parameters, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})}, nil)
	testfile.Write(t, private, string(text))
	if der, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, public, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	return private, public
}
