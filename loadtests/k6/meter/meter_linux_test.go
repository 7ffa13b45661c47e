package meter

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// This program is its own children: what the variable says.
const role = "METER_TEST_ROLE"

// CPU seconds that a burner uses.
const burnt = 0.2

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "burner":
		burn()
	case "parent":
		parent()
	}
}

func burn() {
	var used unix.Rusage
	for float64(used.Utime.Nano()+used.Stime.Nano()) < burnt*1e9 {
		for range 1_000_000 {
		}
		_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	}
}

// parent starts a burner for each line and says when it has ended.
func parent() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=burner")
		if err := child.Run(); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("ended\n")
	}
}

// start gives a parent's number, and how to let a burner run to its end.
func start(t *testing.T) (int, func()) {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), role+"=parent")
	input, _ := program.StdinPipe()
	output, _ := program.StdoutPipe()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		_ = program.Wait()
	})
	said := bufio.NewReader(output)
	return program.Process.Pid, func() {
		_, _ = io.WriteString(input, "burn\n")
		if line, err := said.ReadString('\n'); err != nil || line != "ended\n" {
			t.Fatalf("the parent said %q, %v", line, err)
		}
	}
}

func TestATreeKeepsTheCPUOfChildrenThatEnded(t *testing.T) {
	pid, burn := start(t)
	number := strconv.Itoa(pid)
	meter := made(t, Processes{"tree": {"tree:" + number}, "one": {"pid:" + number}})
	burn()
	opened, err := meter.Open()
	if err != nil {
		t.Fatal(err)
	}
	burn()
	burn()
	used, err := meter.Close(opened)
	if err != nil {
		t.Fatal(err)
	}
	// /proc gives those that ended in hundredths of a second.
	if got := used["tree"].CPUSeconds; got < 2*burnt-0.03 {
		t.Errorf("the tree used %v s, its children that ended %v", got, 2*burnt)
	}
	if got := used["one"].CPUSeconds; got > burnt {
		t.Errorf("one process used %v s, which are its children's", got)
	}
	if used["tree"].ContextSwitches == 0 || used["tree"].ResidentBytes == 0 {
		t.Errorf("no context switches or no memory: %+v", used["tree"])
	}
}

func TestATreeHasTheCPUOfChildrenThatLive(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), role+"=parent")
	input, _ := child.StdinPipe()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		input.Close()
		_ = child.Wait()
	}()
	if !slices.Contains(tree(os.Getpid()), child.Process.Pid) {
		t.Error("the child isn't in the tree")
	}
	if !slices.Contains(childrenByScan(os.Getpid()), child.Process.Pid) {
		t.Error("the child isn't found by looking at every process")
	}
	used := now(t, Processes{"self": {"self"}, "child": {"pid:" + strconv.Itoa(child.Process.Pid)}})
	if used["self"].CPUSeconds <= used["child"].CPUSeconds || used["child"].CPUSeconds == 0 {
		t.Errorf("this process with its children used %v s, its child %v", used["self"], used["child"])
	}
}

func TestSeveralProcessesOfOneNameAreAdded(t *testing.T) {
	first, _ := start(t)
	second, burn := start(t)
	burn()
	words := []string{"tree:" + strconv.Itoa(first), "tree:" + strconv.Itoa(second)}
	if got := now(t, Processes{"both": words})["both"].CPUSeconds; got < burnt-0.02 {
		t.Errorf("both used %v s, of which one child %v", got, burnt)
	}
}

func TestAControlGroupOfVersion2(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "cpu.stat", "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")
	write(t, folder, "memory.current", "5000000\n")
	write(t, folder, "memory.stat", "anon 1\ninactive_file 2000000\nactive_file 7\n")
	write(t, folder, "cgroup.procs", strconv.Itoa(os.Getpid())+"\n")
	meter := made(t, Processes{"proxy": {"cgroup:" + folder}})
	opened, err := meter.Open()
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, "cpu.stat", "usage_usec 1750000\n")
	used, err := meter.Close(opened)
	if err != nil {
		t.Fatal(err)
	}
	if got := used["proxy"]; got.CPUSeconds != 0.25 || got.ResidentBytes != 3000000 {
		t.Errorf("used %+v", got)
	}
	if all := now(t, Processes{"proxy": {"cgroup:" + folder}})["proxy"]; all.ContextSwitches == 0 {
		t.Error("no context switches of the group's processes")
	}
}

func TestAControlGroupOfVersion1(t *testing.T) {
	folder := t.TempDir()
	group := filepath.Join(folder, "cpu,cpuacct", "pod")
	write(t, group, "cpuacct.usage", "2500000000\n")
	write(t, group, "cpu.stat", "nr_periods 0\n")
	write(t, filepath.Join(folder, "memory", "pod"), "memory.usage_in_bytes", "900\n")
	write(t, filepath.Join(folder, "memory", "pod"), "memory.stat", "total_inactive_file 300\n")
	used := now(t, Processes{"proxy": {"cgroup:" + group}})["proxy"]
	if used.CPUSeconds != 2.5 || used.ResidentBytes != 600 || used.ContextSwitches != 0 {
		t.Errorf("used %+v", used)
	}
}

func TestWhatCantBeReadIsNamed(t *testing.T) {
	for word, part := range map[string]string{
		"pid:0":                "none of pid:NUMBER",
		"pid:x":                "none of pid:NUMBER",
		"name:envoy":           "none of pid:NUMBER",
		"cgroup:":              "none of pid:NUMBER",
		"pid:2147483647":       "can't be read",
		"tree:2147483647":      "can't be read",
		"cgroup:/no/such/path": "can't be read",
	} {
		_, err := New(Processes{"proxy": {word}})
		if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "proxy") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestAProcessThatEndedWithinTheWindowIsAnError(t *testing.T) {
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), role+"=parent")
	input, _ := program.StdinPipe()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	meter := made(t, Processes{"proxy": {"pid:" + strconv.Itoa(program.Process.Pid)}})
	opened, err := meter.Open()
	if err != nil {
		t.Fatal(err)
	}
	input.Close()
	_ = program.Wait()
	if _, err := meter.Close(opened); err == nil || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("a proxy that ended: %v", err)
	}
}

func made(t *testing.T, processes Processes) *Meter {
	t.Helper()
	meter, err := New(processes)
	if err != nil {
		t.Fatal(err)
	}
	return meter
}

func now(t *testing.T, processes Processes) map[string]Usage {
	t.Helper()
	used, err := made(t, processes).Now()
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
