package agent

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// state is what the folder holds and what of it is open now. Everybody who
// looks at it sees what is too old already gone: a KMS that hangs holds up
// nothing here.
type state struct {
	config *Config
	now    func() time.Time
	// Who runs here; nil where nobody asks.
	identity *identity

	mutex       sync.Mutex
	entries     map[string]*entry             // by name, those of tenants among them
	tenants     map[string][]keystore.Purpose // of the tenants' keysets that the folder holds
	reading     map[string]bool               // tenants' keysets whose files are read, to be admitted
	folder      error                         // why the folder could not be read last time
	scanStarted time.Time                     // since when a scan is under way; zero: none is
	scannedAt   time.Time                     // when the last scan ended, whatever it found; before the first: the start
	scanned     bool                          // the folder was read once
	settled     bool                          // each name was tried once, or the KMS was found away
	opened      bool                          // something was open once
	stopped     bool
	offline     offline
	answeredAt  time.Time     // when the KMS last answered, whatever it said
	dropped     []dropped     // since it was last told
	changed     chan struct{} // closed at the next change
}

// offline is how the KMS has not answered.
type offline struct {
	since    time.Time // zero: it answered last time
	failures int
	retryAt  time.Time
	reason   error
}

// entry is one name of the folder.
type entry struct {
	name      string
	tenant    bool
	requested time.Time // a tenant's alone: when it was last asked for

	wanted     *wrapped  // as its files are now; nil if they can't be read
	unreadable error     // why not
	rejected   error     // why the KMS or a check did not let wanted be opened
	rejections int       // in a row
	takeUp     time.Time // when wanted is to be opened, if it is not what is held

	held *held // nil: not open
}

// held is an open keyset.
type held struct {
	keys       openKeyset
	source     *wrapped
	openSince  time.Time // without a break
	lastOpened time.Time
	confirm    time.Time // when the KMS is to be asked again

	refusedSince time.Time // zero: the KMS did not say no last time
	refusals     int
	refusal      error
}

// dropped is a keyset that is no longer served.
type dropped struct{ name, why string }

const (
	whyRemoved = "its files were removed"
	whyOffline = "the KMS has not opened it for --max-offline"
	whyRefused = "the KMS has refused it for --max-refused"
	whyIdle    = "nobody has asked for it for --tenant-idle"
)

func newState(config *Config, now func() time.Time) *state {
	return &state{config: config, now: now, entries: map[string]*entry{}, reading: map[string]bool{}, scannedAt: now(), changed: make(chan struct{})}
}

// lock gives the time of what is done under it, with what is too old gone.
func (s *state) lock() (now time.Time) {
	s.mutex.Lock()
	now = s.now()
	for _, e := range s.entries {
		if e.held == nil {
			continue
		}
		if end, why := s.end(e.held); !now.Before(end) {
			s.drop(e, why)
			e.takeUp = now
		}
	}
	return now
}

// end is when a keyset is no longer served unless the KMS opens it again.
func (s *state) end(h *held) (time.Time, string) {
	end, why := h.lastOpened.Add(s.config.MaxOffline), whyOffline
	if !h.refusedSince.IsZero() {
		if limit := h.refusedSince.Add(s.config.MaxRefused); limit.Before(end) {
			return limit, whyRefused
		}
	}
	return end, why
}

func (s *state) drop(e *entry, why string) {
	if e.held == nil {
		return
	}
	if refusal := e.held.refusal; refusal != nil {
		e.rejected, e.rejections = refusal, e.held.refusals
	}
	e.held.keys.release()
	e.held = nil
	s.dropped = append(s.dropped, dropped{e.name, why})
	s.announce()
}

// announce wakes those who wait for a change.
func (s *state) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// change is closed at the next change.
func (s *state) change() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.changed
}

// stop forgets everything, and takes in nothing more.
func (s *state) stop() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.stopped = true
	for _, e := range s.entries {
		if e.held != nil {
			e.held.keys.release()
			e.held = nil
		}
	}
}

// keptNames are those that are known, tenants' among them as far as they were
// asked for: a scan reads their files.
func (s *state) keptNames() []string {
	s.lock()
	defer s.mutex.Unlock()
	return slices.Collect(maps.Keys(s.entries))
}

func (s *state) beginScan() {
	s.scanStarted = s.lock()
	s.mutex.Unlock()
}

// folderProblem is why the folder could not be read, or is not being read.
func (s *state) folderProblem(now time.Time) error {
	if !s.scanStarted.IsZero() && now.Sub(s.scanStarted) >= scanPatience {
		return fault.Failure(s.config.Keysets, "a look at it does not end, so no change or removal is seen",
			"see why its file system does not answer")
	}
	return s.folder
}

// scannedName is what a scan of the folder gave for one name.
type scannedName struct {
	purposes []keystore.Purpose
	wrapped  *wrapped
	err      error
}

// applyScan takes over what a scan of the folder gave. A name that is gone, or a
// purpose of it, is dropped at once: somebody took it away, and no KMS is asked.
// With an error there are no names, or too many: then what is known stays up to
// date, and nothing new is taken up.
func (s *state) applyScan(names map[string]scannedName, tenants map[string][]keystore.Purpose, err error) {
	now := s.lock()
	defer s.mutex.Unlock()
	s.scanStarted, s.scannedAt = time.Time{}, now
	if s.folder = err; s.stopped || names == nil || (err != nil && !s.scanned) {
		return
	}
	if err != nil {
		maps.DeleteFunc(tenants, func(name string, _ []keystore.Purpose) bool { return s.tenants[name] == nil })
	}
	s.scanned, s.tenants = true, tenants
	for name, f := range names {
		e := s.entries[name]
		if e == nil && keystore.IsTenant(name) {
			continue // forgotten while its files were read
		}
		if e == nil {
			e = &entry{name: name}
			s.entries[name] = e
		}
		s.update(e, f, now)
	}
	for name, e := range s.entries {
		if _, there := names[name]; !there && !e.tenant {
			s.drop(e, whyRemoved)
			delete(s.entries, name)
		}
	}
	s.forgetTenants(now)
	s.settle()
	s.announce()
}

func (s *state) update(e *entry, f scannedName, now time.Time) {
	if e.held != nil {
		s.keepPurposes(e, f.purposes)
	}
	e.unreadable = f.err
	if f.err != nil {
		e.wanted, e.rejected, e.rejections = nil, nil, 0
		return
	}
	if e.wanted == nil || e.wanted.digest != f.wrapped.digest {
		e.rejected, e.rejections, e.takeUp = nil, 0, now
	}
	e.wanted = f.wrapped
}

func (s *state) keepPurposes(e *entry, purposes []keystore.Purpose) {
	left := openKeyset{}
	for purpose, open := range e.held.keys {
		if slices.Contains(purposes, purpose) {
			left[purpose] = open
		} else {
			open.cleartext.release()
			s.dropped = append(s.dropped, dropped{e.name + " (" + string(purpose) + ")", whyRemoved})
		}
	}
	if len(left) < len(e.held.keys) {
		e.held.keys, e.held.source = left, e.held.source.among(purposes)
	}
}

// settle notes when everything was tried once: before that, what is open is a
// part by chance.
func (s *state) settle() {
	if s.settled || !s.scanned {
		return
	}
	if s.offline.since.IsZero() {
		for _, e := range s.entries {
			if e.held == nil && e.unreadable == nil && e.rejected == nil {
				return
			}
		}
	}
	s.settled = true
}
