// Package meter reads what processes use: CPU seconds, memory and context switches.
package meter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Processes says whose use is read, by the reader's own names: "pid:1" is one process, "tree:1" one with all that it
// started, those that ended too, "self" this one with its children, "cgroup:/sys/fs/cgroup/…" a container's.
type Processes map[string][]string

// Usage is what processes used: since they began in a reading, between two readings in a difference.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	// At the time of the (later) reading.
	ResidentBytes int64 `json:"resident_bytes"`
	// Of threads that live at the time of the (later) reading.
	ContextSwitches int64 `json:"context_switches"`
}

// Reading is the counters at one time.
type Reading struct {
	cpu      map[string]float64
	switches map[string]map[int]int64
}

// source is one of Processes' words, understood.
type source struct {
	pid   int
	tree  bool
	group cgroup
}

// Meter reads the same processes again and again.
type Meter struct {
	sources map[string][]source
}

// New understands the words; it fails where one is none of these or names what isn't there.
func New(processes Processes) (*Meter, error) {
	meter := &Meter{sources: map[string][]source{}}
	for name, words := range processes {
		for _, word := range words {
			read, err := parse(word)
			if err != nil {
				return nil, fmt.Errorf("processes of %s: %w", name, err)
			}
			if _, err := read.cpu(); err != nil {
				return nil, fmt.Errorf("processes of %s: %s can't be read: %w", name, word, err)
			}
			meter.sources[name] = append(meter.sources[name], read)
		}
	}
	return meter, nil
}

func parse(word string) (source, error) {
	kind, value, _ := strings.Cut(word, ":")
	switch kind {
	case "self":
		return source{pid: os.Getpid(), tree: true}, nil
	case "pid", "tree":
		pid, err := strconv.Atoi(value)
		if err == nil && pid > 0 {
			return source{pid: pid, tree: kind == "tree"}, nil
		}
	case "cgroup":
		if value != "" {
			return source{group: cgroup(value)}, nil
		}
	}
	return source{}, fmt.Errorf("%q is none of pid:NUMBER, tree:NUMBER, cgroup:FOLDER, self", word)
}

func (read source) cpu() (float64, error) {
	switch {
	case read.group != "":
		return read.group.cpu()
	case read.tree:
		return treeCPU(read.pid)
	}
	stat, err := readStat(read.pid)
	if err != nil {
		return 0, err
	}
	return cpu(read.pid, stat), nil
}

func (read source) pids() []int {
	switch {
	case read.group != "":
		return read.group.processes()
	case read.tree:
		return tree(read.pid)
	}
	return []int{read.pid}
}

func (read source) resident() int64 {
	if read.group != "" {
		return read.group.resident()
	}
	var total int64
	for _, pid := range read.pids() {
		total += resident(pid)
	}
	return total
}

// Open reads the counters at the beginning of a window: the CPU last, so that the reading itself isn't in it.
func (meter *Meter) Open() (Reading, error) {
	switches := meter.switches()
	cpu, err := meter.cpu()
	return Reading{cpu, switches}, err
}

// Close reads what was used since the opening: the CPU first.
func (meter *Meter) Close(opened Reading) (map[string]Usage, error) {
	cpu, err := meter.cpu()
	if err != nil {
		return nil, err
	}
	switches := meter.switches()
	used := map[string]Usage{}
	for name, sources := range meter.sources {
		usage := Usage{CPUSeconds: cpu[name] - opened.cpu[name]}
		for thread, count := range switches[name] {
			usage.ContextSwitches += count - opened.switches[name][thread]
		}
		for _, read := range sources {
			usage.ResidentBytes += read.resident()
		}
		used[name] = usage
	}
	return used, nil
}

// Now is the counters as they stand.
func (meter *Meter) Now() (map[string]Usage, error) {
	return meter.Close(Reading{})
}

func (meter *Meter) cpu() (map[string]float64, error) {
	found := map[string]float64{}
	for name, sources := range meter.sources {
		for _, read := range sources {
			seconds, err := read.cpu()
			if err != nil {
				return nil, fmt.Errorf("the CPU time of %s: %w; did it end?", name, err)
			}
			found[name] += seconds
		}
	}
	return found, nil
}

func (meter *Meter) switches() map[string]map[int]int64 {
	found := map[string]map[int]int64{}
	for name, sources := range meter.sources {
		found[name] = map[int]int64{}
		for _, read := range sources {
			for _, pid := range read.pids() {
				switches(pid, found[name])
			}
		}
	}
	return found
}
