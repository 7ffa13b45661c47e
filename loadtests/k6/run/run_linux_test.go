package run

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
)

func made(t *testing.T, work Work, clients int) *Run {
	t.Helper()
	work.Processes = meter.Processes{"client": {"self"}}
	run, err := New(work, clients)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// all lets clients of these numbers do calls to the end, and gives the calls' numbers and the result.
func all(t *testing.T, run *Run, numbers []int, do func(*Client, int64)) ([]int64, Result) {
	t.Helper()
	var mutex sync.Mutex
	var done []int64
	var group sync.WaitGroup
	for _, number := range numbers {
		client := run.Client(number)
		group.Go(func() {
			defer client.End()
			if err := client.Ready(context.Background()); err != nil {
				t.Error(err)
				return
			}
			for call, more := client.Next(context.Background()); more; call, more = client.Next(context.Background()) {
				do(client, call)
				client.Done(1)
				mutex.Lock()
				done = append(done, call)
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	result, ended := run.Result()
	if !ended {
		t.Fatal("no result")
	}
	slices.Sort(done)
	return done, result
}

func nothing(*Client, int64) {}

func TestFixedWorkIsDoneOnceByAllClientsTogether(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: 3, Operations: 10}}, 3)
	done, result := all(t, run, []int{0, 1, 2}, nothing)
	if !slices.Equal(done, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("calls %v", done)
	}
	if result.Operations != 10 || result.Errors != 0 || result.Seconds <= 0 {
		t.Errorf("result %+v", result)
	}
	if result.Usage["client"].CPUSeconds <= 0 {
		t.Errorf("usage %+v", result.Usage)
	}
}

func TestInstancesShareFixedWork(t *testing.T) {
	work := Work{Workload: Workload{Kind: Fixed, Clients: 4, Operations: 9}}
	first, _ := all(t, made(t, work, 2), []int{0, 2}, nothing)
	second, _ := all(t, made(t, work, 2), []int{1, 3}, nothing)
	together := slices.Sorted(slices.Values(append(first, second...)))
	if !slices.Equal(together, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("calls %v and %v", first, second)
	}
}

func TestWhatTheScriptSaysOfACallCounts(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: 1, Operations: 2}}, 1)
	client := run.Client(0)
	if err := client.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []float64{1000, 234} {
		client.Next(context.Background())
		client.Done(rows)
	}
	if result := client.End(); result.Operations != 1234 || len(result.LatencyMicros) != len(Percentiles)+2 {
		t.Errorf("result %+v", result)
	}
}

func TestAClosedWindowHoldsTheCallsAfterTheWarmUp(t *testing.T) {
	run := made(t, Work{WarmUpSeconds: 0.3, Workload: Workload{Kind: Closed, Clients: 1, Seconds: 0.05}}, 1)
	measured := int64(0)
	done, result := all(t, run, []int{0}, func(client *Client, _ int64) {
		if client.Measured() {
			measured++
		}
		time.Sleep(time.Millisecond)
	})
	if result.Operations != measured || measured == 0 {
		t.Errorf("%d operations, of %d calls within the window", result.Operations, measured)
	}
	if int64(len(done)) <= measured {
		t.Error("no call was a warm-up")
	}
	if result.Seconds < 0.05 {
		t.Errorf("a window of %v s", result.Seconds)
	}
}

func TestACallThatIsLongerThanTheWindowIsMeasured(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Closed, Clients: 1, Seconds: 0.001}}, 1)
	done, result := all(t, run, []int{0}, func(*Client, int64) { time.Sleep(20 * time.Millisecond) })
	if len(done) != 1 || result.Operations != 1 || result.Seconds < 0.02 {
		t.Errorf("%d calls, %+v", len(done), result)
	}
}

func TestClientsWaitForEachOther(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: 2, Operations: 2}}, 2)
	context, cancel := context.WithCancel(context.Background())
	cancel()
	if run.Client(0).Ready(context) == nil {
		t.Error("a client began alone")
	}
}

func TestAClientThatFailsHoldsUpNobody(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: 2, Operations: 4}}, 2)
	run.Tally.Error("connect: refused")
	run.Client(1).End()
	done, result := all(t, run, []int{0}, nothing)
	if !slices.Equal(done, []int64{0, 2}) || result.Errors != 1 {
		t.Errorf("calls %v, %+v", done, result)
	}
}

func TestOfClientsThatEndTogetherOneIsTheLast(t *testing.T) {
	const clients, runs = 64, 100
	for range runs {
		run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: clients, Operations: clients}}, clients)
		var last atomic.Int64
		var group sync.WaitGroup
		together := make(chan struct{})
		for number := range clients {
			client := run.Client(number)
			group.Go(func() {
				<-together
				if client.End() != nil {
					last.Add(1)
				}
			})
		}
		close(together)
		group.Wait()
		if last.Load() != 1 {
			t.Fatalf("%d clients were the last", last.Load())
		}
	}
}

func TestARunWithoutCallsIsAnError(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Closed, Clients: 1, Seconds: 1}}, 1)
	result := run.Client(0).End()
	if result == nil || result.Errors != 1 || !strings.Contains(result.Failures[0], "no call began") {
		t.Errorf("result %+v", result)
	}
}

// Of a stalled run.
const dueBefore, dueWithin = 10, 250

// stalled is a run of an arrival rate with one client, whose first call within the window lasts until the window closes.
func stalled(t *testing.T, patience time.Duration) (*Run, Result) {
	t.Helper()
	run := made(t, Work{WarmUpSeconds: 0.02, Workload: Workload{Kind: Arrival, Clients: 1, Seconds: 0.5, Rate: 500}}, 1)
	run.patience = patience
	held := false
	_, result := all(t, run, []int{0}, func(client *Client, _ int64) {
		if client.Measured() && !held {
			held = true
			<-run.closed
		}
	})
	return run, result
}

func counted(histogram Histogram) (all int64) {
	for _, count := range histogram.Counts {
		all += count
	}
	return all
}

func TestAStallIsInTheLatencyOfAllThatWasDue(t *testing.T) {
	run, result := stalled(t, time.Hour)
	if counted(result.Histogram) != dueWithin || result.Dropped != 0 {
		t.Errorf("%d latencies and %d dropped, due were %d", counted(result.Histogram), result.Dropped, dueWithin)
	}
	// Nothing was answered before the window closed: half was due in the first half of it.
	if half := micros(run.arrivals.end.Sub(run.arrivals.began)) / 2; result.LatencyMicros["50"] < half {
		t.Errorf("half took %v µs or less, and yet waited for %v", result.LatencyMicros["50"], half)
	}
	// What is done after the close is not what was done within, which is the one call and what the warm-up left.
	if result.Operations > 1+dueBefore {
		t.Errorf("%d operations within the window", result.Operations)
	}
}

func TestAnArrivalThatNoClientComesToIsDropped(t *testing.T) {
	_, result := stalled(t, time.Millisecond)
	if result.Dropped == 0 || counted(result.Histogram)+result.Dropped != dueWithin {
		t.Errorf("%d latencies and %d dropped, due were %d", counted(result.Histogram), result.Dropped, dueWithin)
	}
}

func TestArrivalsComeAtTheirRate(t *testing.T) {
	run := made(t, Work{WarmUpSeconds: 0.1, Workload: Workload{Kind: Arrival, Clients: 4, Seconds: 0.5, Rate: 200}}, 4)
	done, result := all(t, run, []int{0, 1, 2, 3}, func(client *Client, _ int64) {
		if client.began.Before(client.due) {
			t.Error("a call began before it was due")
		}
	})
	if len(slices.Compact(slices.Clone(done))) != len(done) {
		t.Errorf("calls %v", done)
	}
	if len(done) != 20+100 || counted(result.Histogram) != 100 || result.Dropped != 0 || result.Seconds < 0.5 {
		t.Errorf("%d calls, %d latencies, %d dropped in %v s", len(done), counted(result.Histogram), result.Dropped, result.Seconds)
	}
}

func TestAClientOfAnArrivalRateEndsWithItsContext(t *testing.T) {
	// The first call is due at once, the second and third in hours, the fourth after the end.
	run := made(t, Work{Workload: Workload{Kind: Arrival, Clients: 1, Seconds: 10000, Rate: 0.0003}}, 1)
	client := run.Client(0)
	if err := client.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, more := client.Next(context.Background()); !more {
		t.Error("no first call")
	}
	for range 3 {
		context, cancel := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Millisecond, cancel)
		if _, more := client.Next(context); more {
			t.Error("a call after the end")
		}
	}
	client.End()
}

func TestStatementsAreThoseOfTheirCall(t *testing.T) {
	run := made(t, Work{Workload: Workload{Kind: Fixed, Clients: 1, Operations: 3}}, 1)
	client := run.Client(0)
	if err := client.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, took := range [][]time.Duration{{5 * time.Microsecond, 7 * time.Microsecond}, {}, {9 * time.Microsecond}} {
		client.Next(context.Background())
		for _, one := range took {
			client.Statement(one)
		}
		client.Done(1)
	}
	if result := client.End(); counted(result.SQLHistogram) != 3 || result.SQLMicros["50"] != 7 || result.SQLMicros["max"] != 9 {
		t.Errorf("statements %v, %v", result.SQLMicros, result.SQLHistogram)
	}
}

func TestWorkThatCantBeDoneIsRefused(t *testing.T) {
	for part, workload := range map[string]Workload{
		"clients":    {Kind: Closed, Seconds: 1},
		"seconds":    {Kind: Closed, Clients: 1},
		"rate":       {Kind: Arrival, Clients: 1, Seconds: 1},
		"operations": {Kind: Fixed, Clients: 1},
		"kind":       {Kind: "ramp", Clients: 1},
	} {
		if _, err := New(Work{Workload: workload}, 1); err == nil || !strings.Contains(err.Error(), "workload."+part) {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func TestAProcessThatIsNotThereIsRefused(t *testing.T) {
	work := Work{Workload: Workload{Kind: Fixed, Clients: 1, Operations: 1}, Processes: meter.Processes{"proxy": {"pid:x"}}}
	if _, err := New(work, 1); err == nil {
		t.Error("no error")
	}
}
