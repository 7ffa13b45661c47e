package hardening

import (
	"bytes"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// stranger is a user that no test runs as.
const stranger = 65533

func TestHardenedProcessLeavesNoCoreAndNoReader(t *testing.T) {
	log := &bytes.Buffer{}
	locked, err := Harden(slog.New(slog.NewJSONHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munlockall()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 || limit.Max != 0 {
		t.Errorf("core limit %+v, %v", limit, err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("dumpable %d, %v", dumpable, err)
	}
	if said := strings.Contains(log.String(), "NOT ALL MEMORY IS LOCKED"); said == locked {
		t.Errorf("locked %v, and the log says:\n%s", locked, log)
	}
	if locked && !strings.Contains(vmLocked(t), "kB") {
		t.Errorf("the kernel shows no locked memory: %q", vmLocked(t))
	}
}

// vmLocked is what the kernel says is locked, less a zero.
func vmLocked(t *testing.T) string {
	status := testfile.Read(t, "/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmLck:"); found && !strings.Contains(value, " 0 kB") {
			return value
		}
	}
	return ""
}

func TestLimitOfLockedMemoryIsToldAndNotRunInto(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before); err != nil {
		t.Fatal(err)
	}
	small := unix.Rlimit{Cur: min(before.Cur, 8<<20), Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &small); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before)
	said := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread gives its capabilities up, and ends
		if os.Geteuid() == 0 {
			if _, _, err := unix.RawSyscall(unix.SYS_SETRESUID, stranger, stranger, stranger); err != 0 {
				said <- nil
				return
			}
		}
		said <- lockMemory()
	}()
	if err := <-said; err == nil || !strings.Contains(err.Error(), "RLIMIT_MEMLOCK is") {
		t.Errorf("error %v", err)
	}
}
