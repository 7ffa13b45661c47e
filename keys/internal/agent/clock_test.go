package agent

import (
	"errors"
	"testing"
	"time"
)

func TestClockGoesOnWhileTheMachineIsSuspendedAndDoesNotJump(t *testing.T) {
	since := time.Hour
	now := newClock(func() (time.Duration, error) { return since, nil })
	begun := now()
	// As after a suspension: this clock went on, and the monotonic one did not.
	since += 30 * time.Hour
	if passed := now().Sub(begun); passed != 30*time.Hour {
		t.Errorf("%v have passed", passed)
	}
	if begun != begun.Round(0) {
		t.Error("it has a monotonic reading, which would be what is measured with")
	}
	without := newClock(func() (time.Duration, error) { return 0, errors.ErrUnsupported })
	if passed := time.Since(without()); passed > time.Minute {
		t.Errorf("a kernel without the clock: %v ago", passed)
	}
}

func TestClockOfTheMachineIsThere(t *testing.T) {
	now := newClock(sinceBoot)
	begun := now()
	time.Sleep(20 * time.Millisecond)
	if passed := now().Sub(begun); passed < 20*time.Millisecond || passed > 10*time.Second {
		t.Errorf("%v have passed", passed)
	}
}

func TestTimesAreToldAsTheMachineHasThemNow(t *testing.T) {
	c := newClocked(t, "pii")
	r := c.report()
	// The clock of the test stands in 1970.
	if told := r.keysets[0].ready(r.ahead).LastOpened; time.Since(told).Abs() > time.Minute {
		t.Errorf("opened just now, told as %v", told)
	}
}
