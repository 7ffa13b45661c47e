package agent

import "time"

// job is one keyset to be opened through the KMS.
type job struct {
	entry    *entry
	wrapped  *wrapped
	confirms bool // it is open, and the KMS is asked whether it still may be
}

// next gives what is to be asked of the KMS now, or how long there is nothing.
// Changed files come before the confirming of open keysets.
func (s *state) next() (j job, wait time.Duration, ok bool) {
	now := s.lock()
	defer s.mutex.Unlock()
	wait = s.config.KMSCheck
	if until := s.offline.retryAt.Sub(now); !s.offline.since.IsZero() && until > 0 {
		return job{}, until, false
	}
	var earliest time.Time
	consider := func(candidate job, due time.Time) {
		if until := due.Sub(now); until > 0 {
			wait = min(wait, until)
			return
		}
		if !ok || (j.confirms && !candidate.confirms) || (j.confirms == candidate.confirms && due.Before(earliest)) {
			j, earliest, ok = candidate, due, true
		}
	}
	for _, e := range s.entries {
		if e.wanted != nil && (e.held == nil || e.held.source.digest != e.wanted.digest) {
			consider(job{entry: e, wrapped: e.wanted}, e.takeUp)
		}
		if e.held != nil {
			consider(job{entry: e, wrapped: e.held.source, confirms: true}, e.held.confirm)
		}
	}
	return j, wait, ok
}

// apply takes over what came of a job. The files, and what is open, may have
// changed while the KMS was asked: then what it gave is let go.
func (s *state) apply(j job, opened openKeyset, outcome outcome, err error) {
	now := s.lock()
	defer s.mutex.Unlock()
	defer s.announce()
	e := j.entry
	s.noteKMS(outcome, err, now)
	current := !s.stopped && s.entries[e.name] == e
	switch {
	case !current:
	case outcome == unavailable:
		s.postpone(j, now) // so that the next attempt is another keyset's
	case j.confirms:
		s.confirmed(e.held, j, err, now)
	case e.wanted == nil || e.wanted.digest != j.wrapped.digest:
	case err != nil:
		e.rejected = err
		e.rejections++
		e.takeUp = now.Add(backOff(e.rejections, s.config.KMSCheck))
	default:
		s.take(e, opened, now)
		opened = nil
	}
	opened.release()
	s.settle()
}

func (s *state) noteKMS(outcome outcome, err error, now time.Time) {
	if outcome != unavailable {
		s.offline, s.answeredAt = offline{}, now
		return
	}
	if s.offline.since.IsZero() {
		s.offline.since = now
	}
	s.offline.failures++
	s.offline.reason = err
	s.offline.retryAt = now.Add(backOff(s.offline.failures, s.config.KMSCheck))
}

func (s *state) postpone(j job, now time.Time) {
	if !j.confirms {
		j.entry.takeUp = now
	} else if j.entry.held != nil {
		j.entry.held.confirm = now
	}
}

// confirmed notes what the KMS said of a keyset that is open: what it gave is
// what is held, so that is kept.
func (s *state) confirmed(h *held, j job, err error, now time.Time) {
	switch {
	case h == nil || h.source != j.wrapped:
	case err == nil:
		h.lastOpened, h.confirm = now, now.Add(jittered(s.config.KMSCheck))
		h.refusedSince, h.refusals, h.refusal = time.Time{}, 0, nil
	default:
		if h.refusedSince.IsZero() {
			h.refusedSince = now
		}
		h.refusals++
		h.refusal = err
		h.confirm = now.Add(backOff(h.refusals, s.config.KMSCheck))
	}
}

func (s *state) take(e *entry, opened openKeyset, now time.Time) {
	since := now
	if e.held != nil {
		since = e.held.openSince
		e.held.keys.release()
	}
	e.held = &held{
		keys: opened, source: e.wanted, openSince: since, lastOpened: now,
		confirm: now.Add(jittered(s.config.KMSCheck)),
	}
	e.rejected, e.rejections = nil, 0
	s.opened = true
}
