package run

import (
	"math"
	"strconv"
)

// How far a bucket's value is from what fell in it, at most.
const relativeError = 0.001

// Histogram counts latencies in buckets that grow by a factor, so that those of several instances can be added. With
// gamma = (1+e)/(1-e), a latency of x µs is in the bucket ceil(ln(x)/ln(gamma)), whose value is 2*gamma^bucket/(gamma+1).
type Histogram struct {
	RelativeError float64          `json:"relative_error"`
	Counts        map[string]int64 `json:"counts"`
}

// HistogramOf counts latencies in microseconds; 0 counts as a nanosecond.
func HistogramOf(latencies []float64) Histogram {
	width := math.Log((1 + relativeError) / (1 - relativeError))
	counts := map[string]int64{}
	for _, latency := range latencies {
		bucket := int(math.Ceil(math.Log(max(latency, 0.001)) / width))
		counts[strconv.Itoa(bucket)]++
	}
	return Histogram{relativeError, counts}
}
