package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// outcome is what came of asking the KMS.
type outcome string

const (
	answered    outcome = "ok"
	refused     outcome = "refused"     // it answered, and said no
	unavailable outcome = "unavailable" // it did not answer
)

// outcomeOf tells a KMS that is away from one that says no. Package kek says the
// first with a failure; all else is an answer, such as a key that does not fit.
func outcomeOf(err error) outcome {
	var f *fault.Fault
	switch {
	case err == nil:
		return answered
	case errors.As(err, &f) && fault.ExitStatus(err) == fault.ExitFailure:
		return unavailable
	default:
		return refused
	}
}

// kms opens keysets through the key-encryption key. One goroutine alone uses it,
// so the KMS sees one call at a time from each agent.
type kms struct {
	openKEK func() (tink.AEAD, error)
	observe func(outcome, time.Duration) // of every call
	now     func() time.Time
}

// open opens the keysets of one name. A keyset that the KMS unwrapped and that
// can not be used is an error with the outcome ok.
func (k *kms) open(w *wrapped) (openKeyset, outcome, error) {
	aead, err := k.openKEK()
	if err != nil {
		k.observe(outcomeOf(err), 0)
		return nil, outcomeOf(err), err
	}
	calls := &observedKEK{AEAD: aead, kms: k}
	defer calls.wipe()
	opened, err := w.open(calls)
	return opened, outcomeOf(calls.failed), err
}

// observedKEK remembers what the KMS said (the keystore's own errors blame the
// file) and what it unwrapped, to wipe it.
type observedKEK struct {
	tink.AEAD
	kms       *kms
	failed    error
	unwrapped [][]byte
}

func (o *observedKEK) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	begun := o.kms.now()
	plaintext, err := o.AEAD.Decrypt(ciphertext, associatedData)
	o.kms.observe(outcomeOf(err), o.kms.now().Sub(begun))
	o.failed = err
	o.unwrapped = append(o.unwrapped, plaintext)
	return plaintext, err
}

func (o *observedKEK) wipe() {
	for _, keyset := range o.unwrapped {
		clear(keyset)
	}
}

// opener does what is to be asked of the KMS, one after the other.
type opener struct {
	kms     *kms
	state   *state
	changes *changeLogger
}

func (o *opener) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := o.state.change()
		if j, wait, ok := o.state.next(); ok {
			opened, outcome, err := o.kms.open(j.wrapped)
			o.state.apply(j, opened, outcome, err)
			o.changes.log()
		} else {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
			case <-changed:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

const (
	// firstRetry is how long after a first failure the next attempt is made.
	firstRetry = time.Second
	// longestRetry bounds the time in which a KMS that is back goes unnoticed.
	longestRetry = time.Minute
)

// backOff is the time to wait after so many failures in a row: it doubles, and
// lies anywhere in its upper half, so that agents that failed together do not
// try again together.
func backOff(failures int, longest time.Duration) time.Duration {
	longest = min(longest, longestRetry)
	wait := min(firstRetry, longest)
	for ; failures > 1 && wait < longest; failures-- {
		wait = min(2*wait, longest)
	}
	return wait/2 + rand.N(wait/2+1)
}

// jittered spreads agents that were started together.
func jittered(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.9 + 0.2*rand.Float64()))
}
