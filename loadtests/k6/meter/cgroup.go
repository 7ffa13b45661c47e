package meter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroup is a control group's folder, of version 2 or of version 1's controller cpuacct.
type cgroup string

func (group cgroup) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(group), name))
}

func (group cgroup) cpu() (float64, error) {
	if text, err := group.read("cpu.stat"); err == nil && bytes.Contains(text, []byte("usage_usec")) {
		return float64(field(text, "usage_usec ")) / 1e6, nil
	}
	text, err := group.read("cpuacct.usage")
	if err != nil {
		return 0, fmt.Errorf("%s: neither cpu.stat nor cpuacct.usage: name a control group's folder", group)
	}
	nanoseconds, err := number(text)
	return nanoseconds / 1e9, err
}

// resident is what the group holds less the file cache that can go, as Kubernetes counts it.
func (group cgroup) resident() int64 {
	if text, err := group.read("memory.current"); err == nil {
		used, _ := number(text)
		stat, _ := group.read("memory.stat")
		return int64(used) - field(stat, "inactive_file ")
	}
	// In version 1 each controller has a hierarchy of its own, with the same paths.
	memory := group
	for _, controller := range []string{"/cpu,cpuacct/", "/cpuacct,cpu/", "/cpuacct/", "/cpu/"} {
		memory = cgroup(strings.Replace(string(memory), controller, "/memory/", 1))
	}
	text, err := memory.read("memory.usage_in_bytes")
	if err != nil {
		return 0
	}
	used, _ := number(text)
	stat, _ := memory.read("memory.stat")
	return int64(used) - field(stat, "total_inactive_file ")
}

func (group cgroup) processes() []int {
	text, _ := group.read("cgroup.procs")
	var found []int
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			found = append(found, pid)
		}
	}
	return found
}

func number(text []byte) (float64, error) {
	return strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
}
