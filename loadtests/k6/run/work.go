// Package run is one measurement: clients that wait for each other, a window in which calls count, and the result.
package run

import (
	"fmt"
	"time"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
)

// Kinds of workload.
const (
	// Each client calls again as soon as it is answered.
	Closed = "closed"
	// So many calls begin each second.
	Arrival = "arrival"
	// So many calls in all.
	Fixed = "fixed"
)

// Workload is how much is done.
type Workload struct {
	Kind string `json:"kind"`
	// Of all instances of k6 together, as the other numbers.
	Clients    int     `json:"clients"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"rate"`
	Operations int64   `json:"operations"`
}

// Work is what is measured: the document that main.js is given.
type Work struct {
	Driver string `json:"driver"`
	Mode   string `json:"mode"`
	DSN    string `json:"dsn"`
	// Of the driver http: where the service listens, and what each request says of itself.
	Socket        string            `json:"socket"`
	Headers       map[string]string `json:"headers"`
	Workload      Workload          `json:"workload"`
	WarmUpSeconds float64           `json:"warm_up_seconds"`
	Processes     meter.Processes   `json:"processes"`
}

// Check says what is missing.
func (work *Work) Check() error {
	load := work.Workload
	switch {
	case load.Clients < 1:
		return fmt.Errorf("the work's workload.clients is %d: at least 1", load.Clients)
	case load.Kind == Closed && load.Seconds <= 0, load.Kind == Arrival && load.Seconds <= 0:
		return fmt.Errorf("the work's workload.seconds is %v: more than 0", load.Seconds)
	case load.Kind == Arrival && load.Rate <= 0:
		return fmt.Errorf("the work's workload.rate is %v: more than 0", load.Rate)
	case load.Kind == Fixed && load.Operations < 1:
		return fmt.Errorf("the work's workload.operations is %d: at least 1", load.Operations)
	case load.Kind != Closed && load.Kind != Arrival && load.Kind != Fixed:
		return fmt.Errorf("the work's workload.kind is %q: one of closed, arrival, fixed", load.Kind)
	}
	return nil
}

func seconds(value float64) time.Duration {
	return time.Duration(value * float64(time.Second))
}
