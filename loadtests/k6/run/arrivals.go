package run

import (
	"context"
	"sync/atomic"
	"time"
)

// A call that has been due for longer is dropped: no client came to it.
const patience = 10 * time.Second

// arrivals are calls that are due one after the other at a rate, whatever the answers take. Clients take them in
// turn: what is due while none is free waits in line, and its latency counts from when it was due.
type arrivals struct {
	began time.Time
	// The window's; nothing is due from then on.
	end      time.Time
	rate     float64
	patience time.Duration
	taken    atomic.Int64
	dropped  atomic.Int64
}

func (run *Run) beginArrivals() {
	load := run.Work.Workload
	now := time.Now()
	run.arrivals.began = now
	run.arrivals.end = now.Add(seconds(run.Work.WarmUpSeconds) + seconds(load.Seconds))
	// Of several instances each has its share.
	run.arrivals.rate = load.Rate * float64(run.clients) / float64(load.Clients)
	go run.timed()
}

// next is when the next call is due.
func (arrivals *arrivals) next() time.Time {
	number := arrivals.taken.Add(1) - 1
	return arrivals.began.Add(seconds(float64(number) / arrivals.rate))
}

// arrival waits until the next call is due; false when there is none.
func (client *Client) arrival(ctx context.Context) bool {
	run := client.run
	for ctx.Err() == nil {
		due := run.arrivals.next()
		switch {
		case !due.Before(run.arrivals.end):
			// The clients' ends would close the window before its time.
			select {
			case <-run.closed:
			case <-ctx.Done():
			}
			return false
		case time.Since(due) <= run.arrivals.patience:
			client.due = due
			return client.alarm.wait(ctx, due) == nil
		case run.window.holds(due):
			run.arrivals.dropped.Add(1)
		}
	}
	return false
}

// timed opens and closes the window of an arrival rate by the clock.
func (run *Run) timed() {
	defer close(run.closed)
	wait := func(duration float64) bool {
		select {
		case <-time.After(seconds(duration)):
			return true
		case <-run.over:
			return false
		}
	}
	if !wait(run.Work.WarmUpSeconds) {
		return
	}
	run.open()
	if wait(run.Work.Workload.Seconds) {
		run.close(time.Now())
	}
}
