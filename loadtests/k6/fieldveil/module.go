// Package fieldveil is the k6 extension `k6/x/fieldveil`: timed SQL and HTTP, clients and their window, checked answers, and
// what processes use. README.md of this Go module describes it for scripts.
package fieldveil

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/common"
	"go.k6.io/k6/js/modules"

	"github.com/fieldveil/fieldveil/loadtests/k6/meter"
	"github.com/fieldveil/fieldveil/loadtests/k6/run"
)

func init() {
	modules.Register("k6/x/fieldveil", &root{})
}

// root is what all virtual users share.
type root struct {
	mutex sync.Mutex
	run   *run.Run
	files files
}

// module is the extension as one virtual user sees it.
type module struct {
	root    *root
	vu      modules.VU
	metrics *sqlMetrics
	client  *run.Client
	// The failure that was thrown last is counted already.
	counted bool
}

func (root *root) NewModuleInstance(vu modules.VU) modules.Instance {
	metrics, err := register(vu.InitEnv().Registry)
	if err != nil {
		common.Throw(vu.Runtime(), err)
	}
	return &module{root: root, vu: vu, metrics: metrics}
}

func (module *module) Exports() modules.Exports {
	return modules.Exports{Default: map[string]any{
		"client":  module.newClient,
		"result":  module.result,
		"open":    module.open,
		"http":    module.http,
		"session": module.session,
		"command": module.command,
		"usage":   module.usage,
		"expect":  module.expect(),
	}}
}

// join gives the run, which the first client makes.
func (root *root) join(work run.Work, clients int) (*run.Run, error) {
	root.mutex.Lock()
	defer root.mutex.Unlock()
	if root.run == nil {
		made, err := run.New(work, clients)
		if err != nil {
			return nil, err
		}
		root.run = made
	}
	return root.run, nil
}

func (root *root) joined() *run.Run {
	root.mutex.Lock()
	defer root.mutex.Unlock()
	return root.run
}

// result is what the run found, for handleSummary.
func (module *module) result() (sobek.Value, error) {
	joined := module.root.joined()
	if joined == nil {
		return nil, errors.New("no client began: see what k6 said before")
	}
	found, ended := joined.Result()
	if !ended {
		return nil, errors.New("some clients did not end: the work took longer than main.js allows, or k6 was stopped")
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return module.vu.Runtime().ToValue(string(text)), nil
}

// usage reads what processes used since they began.
func (module *module) usage(processes meter.Processes) (map[string]map[string]any, error) {
	reader, err := meter.New(processes)
	if err != nil {
		return nil, err
	}
	used, err := reader.Now()
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]any{}
	for name, usage := range used {
		found[name] = map[string]any{
			"cpu_seconds":      usage.CPUSeconds,
			"resident_bytes":   usage.ResidentBytes,
			"context_switches": usage.ContextSwitches,
		}
	}
	return found, nil
}

// read gives a work document in Go.
func read(value sobek.Value) (run.Work, error) {
	var work run.Work
	if common.IsNullish(value) {
		return work, errors.New("no work: give the document that main.js read")
	}
	text, err := json.Marshal(value.Export())
	if err != nil {
		return work, err
	}
	if err := json.Unmarshal(text, &work); err != nil {
		return work, fmt.Errorf("the work document: %w", err)
	}
	return work, nil
}

// throw counts a failure and throws it to the script. Its text holds no value.
func (module *module) throw(err error) {
	if joined := module.root.joined(); joined != nil {
		joined.Tally.Error(err.Error())
		module.counted = true
	}
	common.Throw(module.vu.Runtime(), err)
}
