package table

import (
	"context"
	"fmt"
	"time"
)

// lagEvery is how often the lag is asked for.
const lagEvery = time.Second

// throttle holds work back before it is begun.
type throttle struct {
	job   *Job
	next  time.Time // when the rate allows the next row
	asked time.Time // when the lag was asked for last
}

// wait waits until so many rows may be written.
func (t *throttle) wait(ctx context.Context, r *run, rows int) error {
	if rows == 0 || t.job.DryRun {
		return nil
	}
	if t.job.Rate > 0 {
		if !sleep(r.stop, time.Until(t.next)) {
			return r.stopped()
		}
		t.next = time.Now().Add(time.Duration(float64(rows) / t.job.Rate * float64(time.Second)))
	}
	for t.job.MaxLag > 0 && time.Since(t.asked) >= lagEvery {
		reason := ""
		err := r.retry(func() error {
			lag, err := t.job.Server.Lag(ctx)
			switch {
			case err != nil:
				return err
			case lag.Standbys == 0:
				reason = "no standby is seen"
			case lag.Behind > t.job.MaxLag:
				reason = fmt.Sprintf("a standby is %s behind", lag.Behind.Round(time.Second))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if reason == "" {
			t.asked = time.Now()
			break
		}
		t.job.Progress.waiting(reason)
		if !sleep(r.stop, lagEvery) {
			return r.stopped()
		}
	}
	return nil
}
