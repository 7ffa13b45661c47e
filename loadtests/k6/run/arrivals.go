package run

import "time"

// dispatch hands out one call after the other at the work's rate, whatever the answers take. One that finds no client
// free is dropped; within the window it is counted.
func (run *Run) dispatch() {
	load := run.Work.Workload
	// Of several instances each has its share.
	rate := load.Rate * float64(run.clients) / float64(load.Clients)
	began := time.Now()
	defer close(run.arrivals)
	for number := 0; ; number++ {
		due := began.Add(seconds(float64(number) / rate))
		select {
		case <-time.After(time.Until(due)):
		case <-run.over:
			return
		}
		if run.window.closed() {
			return
		}
		select {
		case run.arrivals <- struct{}{}:
		default:
			if run.window.holds(due) {
				run.dropped.Add(1)
			}
		}
	}
}

// timed opens and closes the window of an arrival rate by the clock.
func (run *Run) timed() {
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
