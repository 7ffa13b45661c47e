package kek

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/daead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

func TestInsecureDevKEKOpensWhatItWrapped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kek.json")
	if err := CreateInsecureDev(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	first, err := Open(InsecureDevURI(file))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := first.Encrypt([]byte("keyset"), nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(InsecureDevURI(file))
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := second.Decrypt(wrapped, nil); err != nil || string(opened) != "keyset" {
		t.Errorf("opened %q, %v", opened, err)
	}
}

func TestExistingKEKIsNeverReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kek.json")
	testfile.Write(t, file, "mine")
	err := CreateInsecureDev(file)
	if fault.ExitStatus(err) != fault.ExitBadInput {
		t.Errorf("error %v", err)
	}
	if text, _ := os.ReadFile(file); string(text) != "mine" {
		t.Error("the file was replaced")
	}
}

func TestClientServesTheKeyItWasChosenFor(t *testing.T) {
	client, err := Client(InsecureDevURI("/kek.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !client.Supported(InsecureDevURI("/kek.json")) || client.Supported(InsecureDevURI("/other.json")) {
		t.Error("it supports another key than its own")
	}
	if _, err := client.GetAEAD(InsecureDevURI("/other.json")); err == nil {
		t.Error("it gives another key than its own")
	}
}

func TestUnknownKeyURIsAreRefused(t *testing.T) {
	for _, uri := range []string{"", "kek.json", "aws-kms://arn:aws:kms:x", InsecureDevPrefix} {
		if _, err := Client(uri); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

func TestFilesThatHoldNoKEKAreRefusedWithoutTheirText(t *testing.T) {
	handle, err := keyset.NewHandle(daead.AESSIVKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	var otherPrimitive bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&otherPrimitive)); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "canary", "half": otherPrimitive.String()[:100],
		"badvalue": `{"primaryKeyId":1,"key":[{"keyData":{"value":"canary!"}}]}`,
		"other":    otherPrimitive.String(), "long": strings.Repeat(" ", maxDevKEKBytes+1),
	} {
		file := filepath.Join(folder, name)
		testfile.Write(t, file, content)
		_, err := Open(InsecureDevURI(file))
		if fault.ExitStatus(err) != fault.ExitBadInput || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{folder, filepath.Join(folder, "absent")} {
		if _, err := Open(InsecureDevURI(file)); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", file, err)
		}
	}
}
