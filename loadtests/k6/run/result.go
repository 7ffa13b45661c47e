package run

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
)

// Percentiles of a result, as its keys name them.
var Percentiles = []string{"1", "5", "10", "25", "50", "75", "90", "95", "99", "99.5", "99.9"}

// Result is what was found, as main.js writes it.
type Result struct {
	Operations int64 `json:"operations"`
	// Between the window's opening and its close, which stand beside as Unix times.
	Seconds float64 `json:"seconds"`
	Began   float64 `json:"began"`
	Ended   float64 `json:"ended"`
	// Of calls that were due within the window, in microseconds: "min", those of Percentiles, "max".
	LatencyMicros map[string]float64 `json:"latency_us"`
	Histogram     Histogram          `json:"histogram"`
	// The same of those calls' statements, each alone; empty where there were none.
	SQLMicros    map[string]float64     `json:"sql_us"`
	SQLHistogram Histogram              `json:"sql_histogram"`
	Usage        map[string]meter.Usage `json:"usage"`
	Answers      int64                  `json:"answers"`
	WrongAnswers int64                  `json:"wrong_answers"`
	Errors       int64                  `json:"errors"`
	Dropped      int64                  `json:"dropped"`
	Failures     []string               `json:"failures"`
}

// sum is called when every client has ended and the window is closed.
func (run *Run) sum() Result {
	result := Result{
		LatencyMicros: map[string]float64{},
		Histogram:     HistogramOf(nil),
		SQLMicros:     map[string]float64{},
		SQLHistogram:  HistogramOf(nil),
		Usage:         map[string]meter.Usage{},
		Dropped:       run.dropped.Load(),
	}
	if run.window.closed() {
		maps.Copy(result.Usage, run.window.usage)
		opened, ended := *run.window.opened.Load(), *run.window.ended.Load()
		result.Seconds = ended.Sub(opened).Seconds()
		result.Began, result.Ended = unixSeconds(opened), unixSeconds(ended)
		latencies, statements := run.count(&result)
		result.LatencyMicros, result.Histogram = Summary(latencies), HistogramOf(latencies)
		result.SQLMicros, result.SQLHistogram = Summary(statements), HistogramOf(statements)
	}
	if len(result.LatencyMicros) == 0 && run.Tally.errors.Load() == 0 {
		run.Tally.Error("no call began within the window: give the workload more seconds or a higher rate")
	}
	run.Tally.into(&result)
	return result
}

// count adds the operations and gives the latencies of calls and of statements, sorted.
func (run *Run) count(result *Result) (latencies, statements []float64) {
	var operations float64
	fixed := run.Work.Workload.Kind == Fixed
	for _, call := range run.calls {
		if fixed || run.window.holds(call.due) {
			latencies = append(latencies, micros(call.ended.Sub(call.due)))
			for _, took := range call.statements {
				statements = append(statements, float64(took))
			}
		}
		if fixed {
			operations += call.operations
		} else {
			// Some are in the midst of a call when the window opens and closes.
			operations += call.operations * run.window.share(call.began, call.ended)
		}
	}
	result.Operations = int64(math.Round(operations))
	slices.Sort(latencies)
	slices.Sort(statements)
	return latencies, statements
}

// Summary is the least, the percentiles and the most of sorted numbers; empty of none. A percentile is the least number
// that so many of the hundred do not exceed.
func Summary(sorted []float64) map[string]float64 {
	found := map[string]float64{}
	if len(sorted) == 0 {
		return found
	}
	for _, name := range Percentiles {
		percent, _ := strconv.ParseFloat(name, 64)
		rank := int(math.Ceil(percent*float64(len(sorted))/100 - 1e-9))
		found[name] = sorted[max(rank, 1)-1]
	}
	found["min"], found["max"] = sorted[0], sorted[len(sorted)-1]
	return found
}

func unixSeconds(at time.Time) float64 {
	return float64(at.UnixNano()) / 1e9
}

func micros(duration time.Duration) float64 {
	return float64(duration.Nanoseconds()) / 1e3
}
