package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sweep removes what killed runs staged for a path and never named: a key may be
// in it. What it can't remove stays.
func Sweep(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		random, isStaged := strings.CutPrefix(entry.Name(), "."+filepath.Base(path)+".")
		if isStaged && random != "" && strings.Trim(random, "0123456789") == "" && entry.Type().IsRegular() {
			sweep(filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
}

// sweep removes a staged file unless the run that staged it still lives.
func sweep(temporary string) {
	file, err := os.OpenFile(temporary, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.Remove(temporary)
	}
}
