package agent

import (
	"time"

	"golang.org/x/sys/unix"
)

// newClock gives the time by a clock that goes on while the machine is suspended,
// as time.Now's does not when it measures, and that does not jump when the
// machine's time is set: how long a keyset may be served depends on neither.
func newClock(sinceBoot func() (time.Duration, error)) func() time.Time {
	begun := time.Now().Round(0)
	at, err := sinceBoot()
	if err != nil {
		return time.Now // a kernel without that clock
	}
	return func() time.Time {
		since, err := sinceBoot()
		if err != nil {
			return time.Now() // never once it answered
		}
		return begun.Add(since - at)
	}
}

func sinceBoot() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, err
	}
	return time.Duration(now.Nano()), nil
}
