package agent

import (
	"net/http"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// maxProblems bounds what an answer tells: each tenant may have one.
const maxProblems = 20

type readyAnswer struct {
	Ready      bool                   `json:"ready"`
	Error      string                 `json:"error,omitempty"` // why not
	Revision   string                 `json:"revision,omitempty"`
	KMSOffline float64                `json:"kms_offline_seconds"`
	Keysets    map[string]readyKeyset `json:"keysets"` // the open ones, tenants' aside
	Tenants    int                    `json:"tenants_open"`
	Problems   []string               `json:"problems,omitempty"`
}

type readyKeyset struct {
	OpenSince    time.Time                        `json:"open_since"`
	LastOpened   time.Time                        `json:"last_opened"`
	RefusedSince *time.Time                       `json:"refused_since,omitempty"`
	ServedUntil  time.Time                        `json:"served_until"` // if the KMS does not open it again
	Purposes     map[keystore.Purpose]readyKeyIDs `json:"purposes"`
}

type readyKeyIDs struct {
	PrimaryKeyID uint32   `json:"primary_key_id"`
	KeyIDs       []uint32 `json:"key_ids"`
}

// serveReady answers 200 only while every configured keyset is open: each name
// that the folder holds, tenants' aside, which are opened on demand. One that is
// served as it was, because its files broke, is open; the problem is told.
func (s *state) serveReady(w http.ResponseWriter, _ *http.Request) {
	r := s.report()
	answer := readyAnswer{Ready: r.ready, Revision: r.revision, KMSOffline: r.offlineSeconds(), Keysets: map[string]readyKeyset{}}
	for _, k := range r.keysets {
		switch {
		case k.open && k.tenant:
			answer.Tenants++
		case k.open:
			answer.Keysets[k.name] = k.ready(r.ahead)
		}
	}
	for _, p := range r.problems() {
		if len(answer.Problems) < maxProblems {
			answer.Problems = append(answer.Problems, p.err.Error())
		}
	}
	status := http.StatusOK
	if !r.ready {
		status, answer.Error = http.StatusServiceUnavailable, r.unready()
	}
	writeJSON(w, status, answer)
}

func (k *keysetReport) ready(ahead time.Duration) readyKeyset {
	machineTime := func(at time.Time) time.Time { return at.Add(ahead).UTC() }
	answer := readyKeyset{
		OpenSince: machineTime(k.openSince), LastOpened: machineTime(k.lastOpened), ServedUntil: machineTime(k.end),
		Purposes: map[keystore.Purpose]readyKeyIDs{},
	}
	if !k.refusedSince.IsZero() {
		since := machineTime(k.refusedSince)
		answer.RefusedSince = &since
	}
	for purpose, p := range k.purposes {
		answer.Purposes[purpose] = readyKeyIDs{PrimaryKeyID: p.primaryKeyID, KeyIDs: p.keyIDs}
	}
	return answer
}

// serveLive answers 200 as long as the agent works: a restart would cure neither
// a KMS that is away nor a file that is broken, and forget the open keys.
func serveLive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]bool{"live": true})
}
