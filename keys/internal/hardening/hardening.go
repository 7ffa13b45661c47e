// Package hardening keeps what a process holds from others on its machine.
package hardening

import (
	"fmt"
	"log/slog"

	"golang.org/x/sys/unix"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Harden keeps the process's memory to itself: no core dump, no other process of
// the same user that reads it, and no swap where the limit allows. It is to be
// called before secrets pass through the process. It tells whether all memory is locked.
func Harden(logger *slog.Logger) (memoryLocked bool, err error) {
	// A core_pattern that is a pipe takes dumps in spite of RLIMIT_CORE; it takes
	// none of a process that is not dumpable. Such a process's /proc files are
	// root's, and a debugger of the same user can not attach to it.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return false, errNoHardening("setrlimit", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return false, errNoHardening("prctl", err)
	}
	if err := lockMemory(); err != nil {
		logger.Warn("NOT ALL MEMORY IS LOCKED: copies of secrets outside of the locked pages may be swapped out", "reason", err.Error(),
			"remedy", "allow an unlimited RLIMIT_MEMLOCK or CAP_IPC_LOCK, or run without swap")
		return false, nil
	}
	return true, nil
}

func errNoHardening(call string, err error) error {
	return fault.Failure("core dumps", "they can not be switched off ("+err.Error()+")", "run it where "+call+" is allowed")
}

// lockMemory locks what the process has and will have. It does so only without a
// limit: with one, a later allocation beyond it would end the process.
func lockMemory() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return err
	}
	if limit.Cur != unix.RLIM_INFINITY && !mayLockAll() {
		return fmt.Errorf("RLIMIT_MEMLOCK is %d bytes", limit.Cur)
	}
	// Go reserves a gigabyte of addresses and uses little of it: pages are locked
	// when they are first used.
	return unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT)
}

// mayLockAll tells whether CAP_IPC_LOCK lifts the limit.
func mayLockAll() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	return unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
