package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/kek"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func TestSealedInEachFormOpensByteForByte(t *testing.T) {
	folder := t.TempDir()
	kekFile := filepath.Join(folder, "kek.json")
	if err := kek.CreateInsecureDev(kekFile); err != nil {
		t.Fatal(err)
	}
	aead, err := kek.Open(kek.InsecureDevURI(kekFile))
	if err != nil {
		t.Fatal(err)
	}
	store, err := keystore.OpenOrMake(filepath.Join(folder, "keysets"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create("pii", keystore.DefaultAEADTemplate, aead); err != nil {
		t.Fatal(err)
	}
	common := []string{"--keysets", store.Folder(), "--keyset", "pii", "--kek-uri", kek.InsecureDevURI(kekFile), "--label", "customer.ssn", "--tenant", "north"}
	for _, protection := range []string{"randomized", "deterministic", "indexed"} {
		for _, form := range []string{"armored", "hex", "raw"} {
			for _, plaintext := range []string{"", "078-05-1120", "ends with a line\n", "\x00\xff"} {
				var sealed, opened bytes.Buffer
				seal := append([]string{"seal", "--protection", protection, "--form", form}, common...)
				if err := run(seal, bytes.NewBufferString(plaintext), &sealed); err != nil {
					t.Fatal(err)
				}
				if form != "raw" {
					sealed.WriteByte('\n') // as psql gives it
				}
				if err := run(append([]string{"open"}, common...), &sealed, &opened); err != nil {
					t.Fatalf("%s %s: %v", protection, form, err)
				}
				if opened.String() != plaintext {
					t.Errorf("%s %s: %q came back as %q", protection, form, plaintext, opened.String())
				}
			}
		}
	}
}
