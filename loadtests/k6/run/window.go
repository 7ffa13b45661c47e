package run

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
)

// window is the time in which calls count. It opens once and closes once; who comes later changes nothing.
type window struct {
	mutex   sync.Mutex
	opened  atomic.Pointer[time.Time]
	ended   atomic.Pointer[time.Time]
	reading meter.Reading
	usage   map[string]meter.Usage
}

func (window *window) open(meter *meter.Meter) error {
	window.mutex.Lock()
	defer window.mutex.Unlock()
	if window.opened.Load() != nil {
		return nil
	}
	reading, err := meter.Open()
	window.reading = reading
	now := time.Now()
	window.opened.Store(&now)
	return err
}

// close has no effect on a window that never opened.
func (window *window) close(now time.Time, meter *meter.Meter) error {
	window.mutex.Lock()
	defer window.mutex.Unlock()
	if window.opened.Load() == nil || window.ended.Load() != nil {
		return nil
	}
	window.ended.Store(&now)
	usage, err := meter.Close(window.reading)
	window.usage = usage
	return err
}

func (window *window) opening() (time.Time, bool) {
	opened := window.opened.Load()
	if opened == nil {
		return time.Time{}, false
	}
	return *opened, true
}

func (window *window) closed() bool {
	return window.ended.Load() != nil
}

// holds says whether the window was open at a time.
func (window *window) holds(at time.Time) bool {
	opened, ended := window.opened.Load(), window.ended.Load()
	return opened != nil && !at.Before(*opened) && (ended == nil || at.Before(*ended))
}

// share is how much of a call lies within the window, from 0 to 1.
func (window *window) share(began, ended time.Time) float64 {
	if began.Equal(ended) {
		if window.holds(began) {
			return 1
		}
		return 0
	}
	from, to := began, ended
	if opened := *window.opened.Load(); opened.After(from) {
		from = opened
	}
	if closed := *window.ended.Load(); closed.Before(to) {
		to = closed
	}
	if !from.Before(to) {
		return 0
	}
	return float64(to.Sub(from)) / float64(ended.Sub(began))
}
