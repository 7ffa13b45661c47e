package agent

import (
	"sync"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/kek"
)

var (
	errAway   = fault.Failure("key URI test://", "it does not answer", "wait")
	errDenied = fault.Input("key URI test://", "the key is disabled", "enable it")
)

// switchedKMS is the development key-encryption key behind a switch: away,
// saying no, or hanging. It counts its calls, and how many there were at once.
type switchedKMS struct {
	keyURI string

	mutex   sync.Mutex
	err     error
	hanging chan struct{}
	calls   int
	atOnce  int
	most    int
}

func (k *switchedKMS) open() (tink.AEAD, error) {
	aead, err := kek.Open(k.keyURI)
	return &switchedAEAD{aead, k}, err
}

// set makes all calls from now on end so; nil: they are answered.
func (k *switchedKMS) set(err error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.err = err
}

// hang holds up all calls until what it gives is called.
func (k *switchedKMS) hang() (release func()) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	hanging := make(chan struct{})
	k.hanging = hanging
	return sync.OnceFunc(func() {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		k.hanging = nil
		close(hanging)
	})
}

func (k *switchedKMS) counts() (calls, most int) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.calls, k.most
}

type switchedAEAD struct {
	tink.AEAD
	kms *switchedKMS
}

func (a *switchedAEAD) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	k := a.kms
	k.mutex.Lock()
	k.calls++
	k.atOnce++
	k.most = max(k.most, k.atOnce)
	hanging := k.hanging
	k.mutex.Unlock()
	if hanging != nil {
		<-hanging
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.atOnce--
	if k.err != nil {
		return nil, k.err
	}
	return a.AEAD.Decrypt(ciphertext, associatedData)
}
