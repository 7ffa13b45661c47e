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
	// Nothing is due from then on.
	end   time.Time
	rate  float64
	taken atomic.Int64
}

// begin lets calls be due from now on.
func (arrivals *arrivals) begin(now time.Time, duration float64, run *Run) {
	arrivals.began, arrivals.end = now, now.Add(seconds(duration))
	// Of several instances each has its share.
	arrivals.rate = run.Work.Workload.Rate * float64(run.clients) / float64(run.Work.Workload.Clients)
}

// next is when the next call is due; false when none is.
func (arrivals *arrivals) next() (time.Time, bool) {
	number := arrivals.taken.Add(1) - 1
	due := arrivals.began.Add(seconds(float64(number) / arrivals.rate))
	return due, due.Before(arrivals.end)
}

// arrival waits until the next call is due; false when there is none.
func (client *Client) arrival(ctx context.Context) bool {
	run := client.run
	if client.take(ctx, &run.warmUp) {
		return true
	}
	if reached(ctx, run.opened) && client.take(ctx, &run.arrivals) {
		return true
	}
	// When all clients have ended, the window closes: not before its time.
	reached(ctx, run.closed)
	return false
}

func (client *Client) take(ctx context.Context, arrivals *arrivals) bool {
	run := client.run
	for due, more := arrivals.next(); more && ctx.Err() == nil; due, more = arrivals.next() {
		if time.Since(due) <= run.patience {
			client.due = due
			return client.alarm.wait(ctx, due) == nil
		}
		if run.window.holds(due) {
			run.dropped.Add(1)
		}
	}
	return false
}

func reached(ctx context.Context, point chan struct{}) bool {
	select {
	case <-point:
		return true
	case <-ctx.Done():
		return false
	}
}

// timed opens and closes the window of an arrival rate by the clock. However late it opens, from then on calls are due
// for as long as it is to be open.
func (run *Run) timed() {
	wait := func(until time.Time) bool {
		select {
		case <-time.After(time.Until(until)):
			return true
		case <-run.over:
			return false
		}
	}
	if !wait(run.warmUp.end) {
		return
	}
	run.open()
	opened, _ := run.window.opening()
	run.arrivals.begin(opened, run.Work.Workload.Seconds, run)
	close(run.opened)
	if wait(run.arrivals.end) {
		run.close(time.Now())
		close(run.closed)
	}
}
