package run

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func at(milliseconds int) time.Time {
	return time.Unix(1000, 0).Add(time.Duration(milliseconds) * time.Millisecond)
}

// asked is a call that began as soon as it was due.
func asked(began, ended int, operations float64) call {
	return call{due: at(began), began: at(began), ended: at(ended), operations: operations}
}

// windowed is a run whose window was open from 100 to 200 ms, with these calls.
func windowed(kind string, calls ...call) *Run {
	run := &Run{Work: Work{Workload: Workload{Kind: kind}}, calls: calls}
	opened, ended := at(100), at(200)
	run.window.opened.Store(&opened)
	run.window.ended.Store(&ended)
	return run
}

func TestACallAtAnEdgeCountsByItsShare(t *testing.T) {
	calls := []call{
		asked(0, 100, 8),   // before
		asked(90, 110, 8),  // half
		asked(120, 121, 8), // whole
		asked(170, 210, 8), // three quarters
		asked(50, 250, 8),  // half, over all of it
		asked(200, 300, 8), // after
	}
	result := windowed(Closed, calls...).sum()
	if result.Operations != 4+8+6+4 {
		t.Errorf("%d operations", result.Operations)
	}
	if result.LatencyMicros["min"] != 1000 || result.LatencyMicros["max"] != 40000 {
		t.Errorf("latencies %v: of the calls that began within", result.LatencyMicros)
	}
	if result.Seconds != 0.1 || result.Began != 1000.1 || result.Ended != 1000.2 {
		t.Errorf("from %v to %v, %v s", result.Began, result.Ended, result.Seconds)
	}
}

func TestArrivalsAreLateFromWhenTheyWereDue(t *testing.T) {
	result := windowed(Arrival,
		call{due: at(90), began: at(150), ended: at(160), operations: 8},  // due before
		call{due: at(110), began: at(120), ended: at(140), operations: 8}, // after 30 ms
		call{due: at(190), began: at(195), ended: at(205), operations: 8}, // after 15, half
		call{due: at(199), began: at(260), ended: at(270), operations: 8}, // after 71, none of it
		call{due: at(200), began: at(200), ended: at(201), operations: 8}, // due after
	).sum()
	if result.LatencyMicros["min"] != 15000 || result.LatencyMicros["50"] != 30000 || result.LatencyMicros["max"] != 71000 {
		t.Errorf("latencies %v: of the calls that were due within", result.LatencyMicros)
	}
	// What the server did in the window, so that its CPU can be divided by it.
	if result.Operations != 8+8+4 {
		t.Errorf("%d operations", result.Operations)
	}
}

func TestStatementsCountWithTheirCalls(t *testing.T) {
	before, within, after := asked(90, 110, 1), asked(110, 120, 1), asked(200, 210, 1)
	before.statements, within.statements, after.statements = []float32{1}, []float32{4000, 250.5}, []float32{9}
	result := windowed(Closed, before, within, after).sum()
	if result.SQLMicros["min"] != 250.5 || result.SQLMicros["max"] != 4000 || len(result.SQLHistogram.Counts) != 2 {
		t.Errorf("statements %v, %v", result.SQLMicros, result.SQLHistogram)
	}
	none := windowed(Closed, asked(110, 120, 1)).sum()
	text, err := json.Marshal(none)
	if err != nil || !strings.Contains(string(text), `"sql_us":{},"sql_histogram":{"relative_error":0.001,"counts":{}}`) {
		t.Errorf("without statements %s, %v", text, err)
	}
}

func TestPercentiles(t *testing.T) {
	var numbers []float64
	for number := range 1000 {
		numbers = append(numbers, float64(number+1))
	}
	found := Summary(numbers)
	for name, want := range map[string]float64{
		"min": 1, "1": 10, "5": 50, "25": 250, "50": 500, "99": 990, "99.5": 995, "99.9": 999, "max": 1000,
	} {
		if found[name] != want {
			t.Errorf("%s: %v, not %v", name, found[name], want)
		}
	}
	if one := Summary([]float64{7}); one["min"] != 7 || one["1"] != 7 || one["99.9"] != 7 || one["max"] != 7 {
		t.Errorf("of one: %v", one)
	}
	if none := Summary(nil); len(none) != 0 {
		t.Errorf("of none: %v", none)
	}
}

func TestAHistogramsBucketsAreWithinItsError(t *testing.T) {
	latencies := []float64{0, 0.5, 1, 42.5, 999, 1_000_000}
	histogram := HistogramOf(latencies)
	gamma := (1 + histogram.RelativeError) / (1 - histogram.RelativeError)
	var found []float64
	for bucket, count := range histogram.Counts {
		index, _ := strconv.Atoi(bucket)
		if count != 1 {
			t.Errorf("%d in bucket %s", count, bucket)
		}
		found = append(found, 2*math.Pow(gamma, float64(index))/(gamma+1))
	}
	slices.Sort(found)
	latencies[0] = 0.001
	for i, latency := range latencies {
		if math.Abs(found[i]-latency) > latency*(histogram.RelativeError+1e-9) {
			t.Errorf("%v stands for %v", found[i], latency)
		}
	}
}

func TestFailuresAreToldOnceAndOnlySome(t *testing.T) {
	var tally Tally
	tally.Answer()
	for number := range 30 {
		tally.Wrong("the row " + strconv.Itoa(number/2))
	}
	tally.Error("connect")
	var result Result
	tally.into(&result)
	if result.Answers != 31 || result.WrongAnswers != 30 || result.Errors != 1 {
		t.Errorf("counted %+v", result)
	}
	if len(result.Failures) != told || result.Failures[1] != "wrong answer: the row 1" {
		t.Errorf("told %v", result.Failures)
	}
}
