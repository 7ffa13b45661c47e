package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// state holds the keysets that are open now. A keyset that no longer opens is
// kept for maxStale after it last did, and then no longer given out.
type state struct {
	maxStale time.Duration
	now      func() time.Time

	mutex    sync.Mutex
	held     map[string]*heldKeyset
	problems map[string]error // of names; "" for the folder as a whole
	current  *view            // rendered from held; nil when it must be anew
}

type heldKeyset struct {
	*openKeyset
	openSince  time.Time // without a break
	lastOpened time.Time
}

// view is one answer: everything open at one time, and until when that holds.
type view struct {
	revision string
	body     []byte
	keysets  map[string]*heldKeyset
	until    time.Time // when the first of its keysets goes stale
}

func newState(maxStale time.Duration, now func() time.Time) *state {
	return &state{maxStale: maxStale, now: now, held: map[string]*heldKeyset{}, problems: map[string]error{}}
}

// apply takes over what an attempt gave. Names that are gone from the folder are
// dropped at once: somebody took them away.
func (s *state) apply(result *opening) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.current = nil
	if result.folder != nil {
		s.problems = map[string]error{"": result.folder}
		return
	}
	now := s.now()
	held := map[string]*heldKeyset{}
	for name, opened := range result.opened {
		since := now
		if before, ok := s.held[name]; ok && !s.stale(before, now) {
			since = before.openSince
		}
		held[name] = &heldKeyset{openKeyset: opened, openSince: since, lastOpened: now}
	}
	for name := range result.problems {
		if before, ok := s.held[name]; ok {
			held[name] = before
		}
	}
	s.held = held
	s.problems = result.problems
}

// view gives what is open now; it is never nil, and may hold no keyset.
func (s *state) view() *view {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.now()
	if s.current == nil || !now.Before(s.current.until) {
		s.current = s.render(now)
	}
	return s.current
}

// reasons are the present problems, by name ("" for the folder as a whole).
func (s *state) reasons() map[string]error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.problems)
}

func (s *state) stale(k *heldKeyset, now time.Time) bool {
	return !now.Before(k.lastOpened.Add(s.maxStale))
}

func (s *state) render(now time.Time) *view {
	v := &view{keysets: map[string]*heldKeyset{}, until: now.Add(s.maxStale)}
	digest := sha256.New()
	answer := keysetsAnswer{Keysets: map[string]map[string]json.RawMessage{}}
	for _, name := range slices.Sorted(maps.Keys(s.held)) {
		k := s.held[name]
		if s.stale(k, now) {
			delete(s.held, name) // its keys are to be forgotten, too
			continue
		}
		v.keysets[name] = k
		if end := k.lastOpened.Add(s.maxStale); end.Before(v.until) {
			v.until = end
		}
		purposes := map[string]json.RawMessage{}
		for purpose, opened := range k.purposes {
			purposes[string(purpose)] = opened.cleartext
		}
		answer.Keysets[name] = purposes
		writeFramed(digest, []byte(name))
		digest.Write(k.digest[:])
	}
	v.revision = hex.EncodeToString(digest.Sum(nil)[:revisionBytes])
	answer.Revision = v.revision
	// It can't fail: the raw messages were made by a JSON writer.
	v.body, _ = json.Marshal(answer)
	return v
}

// revisionBytes of a SHA-256 are enough to tell any two revisions apart.
const revisionBytes = 16

// keysetsAnswer is the body of GET /v1/keysets.
type keysetsAnswer struct {
	Revision string                                `json:"revision"`
	Keysets  map[string]map[string]json.RawMessage `json:"keysets"`
}

// describe puts problems on one line.
func describe(problems map[string]error) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		lines = append(lines, problems[name].Error())
	}
	return strings.Join(lines, " | ")
}
