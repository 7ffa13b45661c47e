package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
)

// Run is what the clients of this instance of k6 share.
type Run struct {
	Work  Work
	Tally Tally

	meter *meter.Meter
	// Of this instance, which may be one of several.
	clients int

	mutex    sync.Mutex
	ready    int
	ended    int
	begun    bool
	released chan struct{}
	over     chan struct{}
	calls    []call
	result   *Result

	window window
	// Of a closed workload: when the window may open.
	warm time.Time
	// Of an arrival rate: calls before and within its window, and when that opens and closes.
	warmUp, arrivals arrivals
	opened, closed   chan struct{}
	patience         time.Duration
	dropped          atomic.Int64
}

// New is a run of so many clients in this instance.
func New(work Work, clients int) (*Run, error) {
	if err := work.Check(); err != nil {
		return nil, err
	}
	meter, err := meter.New(work.Processes)
	if err != nil {
		return nil, err
	}
	return &Run{
		Work:     work,
		meter:    meter,
		clients:  clients,
		released: make(chan struct{}),
		over:     make(chan struct{}),
		patience: patience,
		opened:   make(chan struct{}),
		closed:   make(chan struct{}),
	}, nil
}

// Client is one of the users. Its methods are called by one goroutine.
type Client struct {
	run *Run
	// The number of the next call, unique in all instances, and how far the one after it is.
	next, step int64
	ready      bool
	alarm      *alarm
	due, began time.Time
	calls      []call
	// All statements in microseconds; those of the call that began last are from `first` on.
	statements []float32
	first      int
}

// call is one call of the script's, its statements, and how many operations it did. It was due before it began where
// arrivals waited in line for a client.
type call struct {
	due, began, ended time.Time
	operations        float64
	statements        []float32
}

// Client is the client of this number, from 0 and unique in all instances.
func (run *Run) Client(number int) *Client {
	return &Client{run: run, next: int64(number), step: int64(run.Work.Workload.Clients)}
}

// Ready waits until every client is, or has ended. The last one begins the run.
func (client *Client) Ready(ctx context.Context) error {
	if client.run.Work.Workload.Kind == Arrival {
		alarm, err := newAlarm()
		if err != nil {
			return err
		}
		client.alarm = alarm
	}
	client.ready = true
	client.run.arrive(func(run *Run) { run.ready++ })
	select {
	case <-client.run.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (run *Run) arrive(count func(*Run)) {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	count(run)
	if run.begun || run.ready == 0 || run.ready+run.ended < run.clients {
		return
	}
	run.begun = true
	run.begin()
	close(run.released)
}

func (run *Run) begin() {
	switch run.Work.Workload.Kind {
	case Fixed:
		run.open()
	case Closed:
		run.warm = time.Now().Add(seconds(run.Work.WarmUpSeconds))
	case Arrival:
		run.warmUp.begin(time.Now(), run.Work.WarmUpSeconds, run)
		go run.timed()
	}
}

// Next waits for the next call's turn and gives its number; false when there is none.
func (client *Client) Next(ctx context.Context) (int64, bool) {
	number := client.next
	if !client.turn(ctx, number) {
		return 0, false
	}
	client.next += client.step
	client.first = len(client.statements)
	client.began = time.Now()
	if client.run.Work.Workload.Kind != Arrival {
		client.due = client.began
	}
	return number, true
}

func (client *Client) turn(ctx context.Context, number int64) bool {
	run := client.run
	switch run.Work.Workload.Kind {
	case Fixed:
		return number < run.Work.Workload.Operations
	case Arrival:
		return client.arrival(ctx)
	}
	now := time.Now()
	if opened, is := run.window.opening(); !is {
		if !now.Before(run.warm) {
			run.open()
		}
	} else if !now.Before(opened.Add(seconds(run.Work.Workload.Seconds))) {
		run.close(now)
		return false
	}
	return true
}

// Measured says whether the call that began last counts.
func (client *Client) Measured() bool {
	return client.run.window.holds(client.due)
}

// Statement is how long one of the call that began last took.
func (client *Client) Statement(took time.Duration) {
	client.statements = append(client.statements, float32(micros(took)))
}

// Done ends the call that began last.
func (client *Client) Done(operations float64) {
	statements := client.statements[client.first:]
	client.calls = append(client.calls, call{client.due, client.began, time.Now(), operations, statements})
}

// End is the client's last word. It gives the result to the one that ends last.
func (client *Client) End() *Result {
	run := client.run
	if client.alarm != nil {
		client.alarm.close()
	}
	var last bool
	run.arrive(func(run *Run) {
		run.ended++
		// Of clients that end at the same time only one is the last.
		last = run.ended == run.clients
		if client.ready {
			run.ready--
		}
		run.calls = append(run.calls, client.calls...)
	})
	if !last {
		return nil
	}
	run.close(time.Now())
	close(run.over)
	result := run.sum()
	run.mutex.Lock()
	run.result = &result
	run.mutex.Unlock()
	return &result
}

// Result is what was found; without one where clients did not end.
func (run *Run) Result() (Result, bool) {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	if run.result == nil {
		return Result{}, false
	}
	return *run.result, true
}

func (run *Run) open() {
	if err := run.window.open(run.meter); err != nil {
		run.Tally.Error(err.Error())
	}
}

func (run *Run) close(now time.Time) {
	if err := run.window.close(now, run.meter); err != nil {
		run.Tally.Error(err.Error())
	}
}
