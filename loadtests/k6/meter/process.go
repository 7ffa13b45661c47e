package meter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Of the times in /proc/PID/stat; the same on every Linux.
const ticksPerSecond = 100

// A tree that changes while it is read is read again, this often at most.
const attempts = 5

// stat is what a line of /proc/PID/stat says.
type stat struct {
	parent int
	// Own, and of children that ended and were waited for.
	seconds, waited float64
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	// The name stands in parentheses and may hold anything; the third field follows.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("/proc/%d/stat: not as Linux writes it", pid)
	}
	number := func(field int) float64 {
		value, _ := strconv.ParseFloat(string(fields[field-3]), 64)
		return value
	}
	return stat{
		parent:  int(number(4)),
		seconds: (number(14) + number(15)) / ticksPerSecond,
		waited:  (number(16) + number(17)) / ticksPerSecond,
	}, nil
}

// cpu is the CPU time of a process with all its threads, of those that ended too: by its clock in nanoseconds, or else
// by /proc in hundredths of a second.
func cpu(pid int, read stat) float64 {
	var time unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &time); err != nil {
		return read.seconds
	}
	return float64(time.Nano()) / 1e9
}

// tree is the processes under root and root itself, root first.
func tree(root int) []int {
	found := []int{root}
	for next := 0; next < len(found); next++ {
		found = append(found, children(found[next])...)
	}
	return found
}

func children(pid int) []int {
	lists, _ := filepath.Glob(proc(pid, "task/*/children"))
	if len(lists) == 0 {
		return childrenByScan(pid)
	}
	var found []int
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// childrenByScan looks at every process: for kernels that keep no lists of children.
func childrenByScan(pid int) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if read, err := readStat(child); err == nil && read.parent == pid {
			found = append(found, child)
		}
	}
	return found
}

// treeCPU is the CPU time of a tree: of those that live, and of those that ended, which their parents waited for.
func treeCPU(root int) (float64, error) {
	var total float64
	for range attempts {
		before := tree(root)
		total = 0
		for _, pid := range before {
			read, err := readStat(pid)
			if err != nil {
				if pid == root {
					return 0, err
				}
				continue
			}
			total += read.waited + cpu(pid, read)
		}
		// One that ended between is in its parent's sum, or was read twice.
		if slices.Equal(before, tree(root)) {
			break
		}
	}
	return total, nil
}

// switches is the context switches of each thread of a process, by its number.
func switches(pid int, into map[int]int64) {
	tasks, _ := os.ReadDir(proc(pid, "task"))
	for _, task := range tasks {
		thread, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		status, _ := os.ReadFile(proc(pid, "task/"+task.Name()+"/status"))
		into[thread] = field(status, "voluntary_ctxt_switches:") + field(status, "nonvoluntary_ctxt_switches:")
	}
}

// resident is the memory of a process. What processes share counts to each in part (PSS), where that may be read.
func resident(pid int) int64 {
	if rollup, err := os.ReadFile(proc(pid, "smaps_rollup")); err == nil {
		return field(rollup, "Pss:") * 1024
	}
	status, _ := os.ReadFile(proc(pid, "status"))
	return field(status, "VmRSS:") * 1024
}

// field is the number after a name at the beginning of a line; 0 where there is none.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte(name)); found {
			words := bytes.Fields(rest)
			if len(words) == 0 {
				return 0
			}
			value, _ := strconv.ParseInt(string(words[0]), 10, 64)
			return value
		}
	}
	return 0
}

func proc(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}
