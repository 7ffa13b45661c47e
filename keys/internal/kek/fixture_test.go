package kek

import (
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// opened is the key behind a key URI, with the settings of the environment now.
func opened(t *testing.T, keyURI string) *remoteKey {
	t.Helper()
	client, err := newClient(keyURI)
	if err != nil {
		t.Fatal(err)
	}
	return client.(*remoteKey)
}

const keysetText = "a serialized keyset"

func wrap(t *testing.T, key tink.AEAD) []byte {
	t.Helper()
	wrapped, err := key.Encrypt([]byte(keysetText), []byte{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(wrapped), keysetText) {
		t.Fatal("it is not encrypted")
	}
	return wrapped
}

func unwraps(t *testing.T, key tink.AEAD, wrapped []byte) {
	t.Helper()
	plaintext, err := key.Decrypt(wrapped, []byte{})
	if err != nil || string(plaintext) != keysetText {
		t.Fatalf("opened %q, %v", plaintext, err)
	}
}

// saysNo holds that the KMS answered, with a no that holds all the words.
func saysNo(t *testing.T, err error, words ...string) {
	t.Helper()
	if fault.ExitStatus(err) != fault.ExitBadInput {
		t.Errorf("not a no: %v", err)
	}
	holds(t, err, words...)
}

// isAway holds that the KMS gave no answer, which is told with all the words.
func isAway(t *testing.T, err error, words ...string) {
	t.Helper()
	if fault.ExitStatus(err) != fault.ExitFailure {
		t.Errorf("not away: %v", err)
	}
	holds(t, err, words...)
}

func holds(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not in: %s", word, text)
		}
	}
	if strings.Contains(text, keysetText) || strings.Contains(text, "\n") {
		t.Errorf("it tells too much, or in several lines: %s", text)
	}
}
