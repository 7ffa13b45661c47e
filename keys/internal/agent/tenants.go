package agent

import (
	"context"
	"slices"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// tenantWait is how long an answer waits for tenants' keysets that are not open
// yet. Envoy's callout takes a second at most; what comes later is there for the
// next one.
const tenantWait = 500 * time.Millisecond

// tenantOutcome is what came of a request for a tenant's keysets.
type tenantOutcome string

const (
	tenantOpen    tenantOutcome = "open"
	tenantAbsent  tenantOutcome = "absent"   // the folder did not hold it at the last scan
	tenantTooMany tenantOutcome = "too_many" // --max-tenants are open
	tenantClosed  tenantOutcome = "closed"   // it is there, and did not open (yet)
	tenantNoRoom  tenantOutcome = "no_room"  // it is open, and the answer is full
)

// request opens tenants' keysets that are asked for, and keeps those that are
// open from being forgotten. It waits a moment for those that are not open.
func (s *state) request(ctx context.Context, store *keystore.Store, names []string) {
	// A file system that hangs holds up this reading, and no answer.
	if missing := s.missing(names); len(missing) > 0 {
		go func() {
			for name, purposes := range missing {
				f := scannedName{purposes: purposes}
				f.wrapped, f.err = readWrapped(store, name, purposes)
				s.admit(name, f)
			}
		}()
	}
	ctx, cancel := context.WithTimeout(ctx, tenantWait)
	defer cancel()
	for {
		changed, pending := s.pending(names)
		if !pending {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// missing are those of the names that the folder held at the last scan and that
// are not known yet: what it did not hold costs nothing until the next scan. Who
// asks for them is to read and admit each.
func (s *state) missing(names []string) map[string][]keystore.Purpose {
	now := s.lock()
	defer s.mutex.Unlock()
	missing := map[string][]keystore.Purpose{}
	for _, name := range names {
		purposes, there := s.tenants[name]
		e := s.entries[name]
		switch {
		case e != nil && e.tenant:
			e.requested = now
		case there && !s.reading[name] && s.openTenants()+len(s.reading) < s.config.MaxTenants:
			s.reading[name], missing[name] = true, purposes
		}
	}
	return missing
}

// admit takes in what was read, unless a scan found meanwhile that it is gone:
// the files may have been read before that.
func (s *state) admit(name string, f scannedName) {
	now := s.lock()
	defer s.mutex.Unlock()
	delete(s.reading, name)
	purposes, there := s.tenants[name]
	if s.stopped || !there || !slices.Equal(purposes, f.purposes) || s.entries[name] != nil {
		s.announce()
		return
	}
	e := &entry{name: name, tenant: true, requested: now}
	s.entries[name] = e
	s.update(e, f, now)
	s.announce()
}

// pending tells whether the KMS is still to be asked for one of the names.
func (s *state) pending(names []string) (changed <-chan struct{}, pending bool) {
	s.lock()
	defer s.mutex.Unlock()
	for _, name := range names {
		e := s.entries[name]
		opening := e != nil && e.tenant && e.held == nil && e.unreadable == nil && e.rejected == nil
		if s.reading[name] || (opening && s.offline.since.IsZero()) {
			return s.changed, true
		}
	}
	return s.changed, false
}

// outcomes counts what the names' requests came to, some of which were left out
// of the answer.
func (s *state) outcomes(names []string, leftOut map[string]bool) map[tenantOutcome]int {
	s.lock()
	defer s.mutex.Unlock()
	counts := map[tenantOutcome]int{}
	for _, name := range names {
		_, there := s.tenants[name]
		e := s.entries[name]
		switch {
		case leftOut[name]:
			counts[tenantNoRoom]++
		case e != nil && e.held != nil:
			counts[tenantOpen]++
		case e != nil, s.reading[name]:
			counts[tenantClosed]++
		case there:
			counts[tenantTooMany]++
		default:
			counts[tenantAbsent]++
		}
	}
	return counts
}

// openTenants counts the tenants' keysets that are kept.
func (s *state) openTenants() (count int) {
	for _, e := range s.entries {
		if e.tenant {
			count++
		}
	}
	return count
}

// forgetTenants drops those that are gone from the folder, and those that nobody
// has asked for.
func (s *state) forgetTenants(now time.Time) {
	for name, e := range s.entries {
		if !e.tenant {
			continue
		}
		if _, there := s.tenants[name]; !there {
			s.drop(e, whyRemoved)
			delete(s.entries, name)
		} else if now.Sub(e.requested) >= s.config.TenantIdle {
			s.drop(e, whyIdle)
			delete(s.entries, name)
		}
	}
}
