package kek

import (
	"context"
	"time"

	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// callTimeout bounds one call to a KMS, with the retries of its client. A KMS
// that is well answers within a tenth of a second.
const callTimeout = 10 * time.Second

// remoteKey is a key-encryption key that never leaves its KMS. It bounds each
// call in time and says what a failure means.
type remoteKey struct {
	keyURI  string
	aead    tink.AEADWithContext
	timeout time.Duration
	explain func(keyURI string, err error) *fault.Fault
}

var (
	_ registry.KMSClient = (*remoteKey)(nil)
	_ tink.AEAD          = (*remoteKey)(nil)
)

// Supported makes it the client of its one key.
func (k *remoteKey) Supported(keyURI string) bool { return keyURI == k.keyURI }

func (k *remoteKey) GetAEAD(keyURI string) (tink.AEAD, error) {
	if !k.Supported(keyURI) {
		return nil, errOtherKey(keyURI)
	}
	return k, nil
}

func (k *remoteKey) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	return k.call(k.aead.EncryptWithContext, plaintext, associatedData)
}

func (k *remoteKey) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	return k.call(k.aead.DecryptWithContext, ciphertext, associatedData)
}

func (k *remoteKey) call(
	do func(ctx context.Context, input, associatedData []byte) ([]byte, error), input, associatedData []byte,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), k.timeout)
	defer cancel()
	output, err := do(ctx, input, associatedData)
	if err != nil {
		return nil, k.explain(k.keyURI, err)
	}
	// No keyset is empty, wrapped or not: something before the KMS has answered.
	if len(output) == 0 {
		return nil, awayBecause(k.keyURI, "its answer is empty")
	}
	return output, nil
}

func errOtherKey(keyURI string) error {
	return fault.Input("key URI "+keyURI, "this client serves another key", "ask for a client of that key")
}
