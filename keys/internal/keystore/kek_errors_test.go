package keystore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// brokenKEK answers as a KMS's key does that wraps, or not, and never unwraps.
type brokenKEK struct {
	tink.AEAD
	wraps bool
	err   error
}

func (k *brokenKEK) Encrypt(plaintext, _ []byte) ([]byte, error) {
	if k.wraps {
		return []byte("wrapped"), nil
	}
	return nil, k.err
}

func (k *brokenKEK) Decrypt([]byte, []byte) ([]byte, error) { return nil, k.err }

func TestWhatTheKMSSaidIsPassedOnAndNothingIsMade(t *testing.T) {
	for name, said := range map[string]*fault.Fault{
		"away":    fault.Failure("key URI x", "the KMS is away", "try again"),
		"refuses": fault.Input("key URI x", "the KMS refuses", "give another"),
	} {
		for _, wraps := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				folder := t.TempDir()
				store, err := Open(folder)
				if err != nil {
					t.Fatal(err)
				}
				_, err = store.Create("pii", DefaultAEADTemplate, &brokenKEK{wraps: wraps, err: said})
				var got *fault.Fault
				if !errors.As(err, &got) || fault.ExitStatus(err) != fault.ExitStatus(said) || got.Reason != said.Reason {
					t.Errorf("%v", err)
				}
				if !strings.Contains(err.Error(), filepath.Join(folder, "pii.aead.json")) {
					t.Errorf("it names no file: %v", err)
				}
				entries, err := os.ReadDir(folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, entry := range entries {
					if strings.HasSuffix(entry.Name(), ".json") {
						t.Errorf("%s was made", entry.Name())
					}
				}
			})
		}
	}
}
