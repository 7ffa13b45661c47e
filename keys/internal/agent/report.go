package agent

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// report is what may be told of the state: it holds no key material.
type report struct {
	now      time.Time     // by the agent's clock
	ahead    time.Duration // of the agent's clock is the machine's time
	ready    bool
	open     bool // every configured keyset is
	servable bool
	scanned  bool
	revision string // of the answer without tenants

	asksIdentity bool   // --spiffe-socket is given
	spiffeID     string // "": not known
	noIdentity   error

	folder       error
	scannedAt    time.Time
	answeredAt   time.Time // zero: the KMS has not answered yet
	offlineSince time.Time // zero: the KMS answered last time
	offline      error

	leftOut []string       // names for all that the answer has no room for, sorted
	keysets []keysetReport // sorted by name
	dropped []dropped      // since they were last taken
}

type keysetReport struct {
	name     string
	tenant   bool
	problems []error // of the files, and of what the KMS said of them
	notTaken bool    // the files as they are now are not what is served

	open         bool // the rest is of open ones alone
	openSince    time.Time
	lastOpened   time.Time
	refusedSince time.Time
	end          time.Time
	purposes     map[keystore.Purpose]purposeReport
}

type purposeReport struct {
	primaryKeyID uint32
	keyIDs       []uint32
	created      map[uint32]time.Time
}

// age is that of a key, in seconds; 0 if nobody knows it.
func (p purposeReport) age(keyID uint32, now time.Time) float64 {
	made, known := p.created[keyID]
	if !known {
		return 0
	}
	return max(0, now.Sub(made).Seconds())
}

func (s *state) report() *report {
	v := s.snapshot(nil)
	if v != nil {
		defer v.release()
	}
	now := s.lock()
	defer s.mutex.Unlock()
	r := &report{
		now: now, ahead: time.Since(now).Round(time.Second), scanned: s.scanned, servable: v != nil,
		folder: s.folderProblem(now), scannedAt: s.scannedAt, answeredAt: s.answeredAt, offlineSince: s.offline.since, offline: s.offline.reason,
	}
	r.asksIdentity = s.identity != nil
	r.spiffeID, r.noIdentity = s.identity.current()
	if v != nil {
		r.revision, r.leftOut = v.revision, slices.Sorted(maps.Keys(v.leftOut))
	}
	names := 0
	r.ready = s.scanned
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		k := s.entries[name].report(s)
		r.keysets = append(r.keysets, k)
		if !k.tenant {
			names++
			r.ready = r.ready && k.open
		}
	}
	r.open = r.ready && names > 0 && len(r.leftOut) == 0
	r.ready = r.open && (!r.asksIdentity || r.spiffeID != "")
	return r
}

func (e *entry) report(s *state) keysetReport {
	k := keysetReport{name: e.name, tenant: e.tenant, notTaken: e.unreadable != nil || e.rejected != nil}
	for _, problem := range []error{e.unreadable, e.rejected} {
		if problem != nil {
			k.problems = append(k.problems, problem)
		}
	}
	h := e.held
	if h == nil {
		return k
	}
	if h.refusal != nil {
		k.problems = append(k.problems, h.refusal)
	}
	k.open, k.openSince, k.lastOpened, k.refusedSince = true, h.openSince, h.lastOpened, h.refusedSince
	k.end, _ = s.end(h)
	k.purposes = map[keystore.Purpose]purposeReport{}
	files := h.source
	if e.wanted != nil && e.wanted.digest == files.digest {
		files = e.wanted // read later
	}
	for purpose, opened := range h.keys {
		k.purposes[purpose] = purposeReport{
			primaryKeyID: opened.primaryKeyID, keyIDs: opened.keyIDs, created: files.created(purpose, opened.keyIDs),
		}
	}
	return k
}

// takeDropped hands over what was dropped since the last time.
func (s *state) takeDropped() []dropped {
	s.lock()
	defer s.mutex.Unlock()
	taken := s.dropped
	s.dropped = nil
	return taken
}

// problem is one thing that is wrong, and where.
type problem struct {
	place string // a keyset's name, or one of those below
	err   error
}

const (
	placeFolder = "the folder"
	placeKMS    = "the KMS"
	placeAnswer = "the answer"
)

var errNoRoom = fault.Failure("the open keysets", "they are longer than one answer can be (8 MiB), so some are left out",
	"destroy keys that are used no more, or spread the names over several folders, each with its own agent")

// problems are the present ones: of the folder and the KMS first, then of the
// names, then of tenants.
func (r *report) problems() (all []problem) {
	if r.folder != nil {
		all = append(all, problem{placeFolder, r.folder})
	}
	if r.offline != nil {
		all = append(all, problem{placeKMS, r.offline})
	}
	if r.noIdentity != nil {
		all = append(all, problem{placeIdentity, r.noIdentity})
	}
	if len(r.leftOut) > 0 {
		all = append(all, problem{placeAnswer, errNoRoom})
	}
	keysets := slices.Clone(r.keysets)
	slices.SortStableFunc(keysets, func(a, b keysetReport) int { return cmp.Compare(one(a.tenant), one(b.tenant)) })
	for _, k := range keysets {
		for _, err := range k.problems {
			all = append(all, problem{k.name, err})
		}
	}
	return all
}

// describe puts problems on one line.
func describe(problems []problem) string {
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, p.err.Error())
	}
	return strings.Join(lines, " | ")
}

// unready is the reason in one line.
func (r *report) unready() string {
	if r.open && r.noIdentity != nil {
		return "who runs here is not known: " + r.noIdentity.Error()
	}
	text := "no keyset is there"
	switch problems := r.problems(); {
	case len(problems) > maxProblems:
		text = describe(problems[:maxProblems])
	case len(problems) > 0:
		text = describe(problems)
	case len(r.keysets) > 0 || !r.scanned:
		text = "keysets are being opened"
	}
	return "not every keyset is open: " + text
}

func (r *report) offlineSeconds() float64 {
	if r.offlineSince.IsZero() {
		return 0
	}
	return r.now.Sub(r.offlineSince).Seconds()
}
