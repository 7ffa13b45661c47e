package keystore

import (
	"errors"
	"slices"
	"syscall"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// errNotRead says why a file can not be read. What lies there in its place is
// bad input; a disk that fails is not.
func errNotRead(path string, err error) error {
	if errors.Is(err, syscall.EISDIR) {
		return fault.Input(path, "it is a folder, not a file", restore)
	}
	if errors.Is(err, regularfile.ErrNotRegular) {
		return fault.Input(path, err.Error(), restore)
	}
	return fault.Unreadable(path, err)
}

// errNotWritten says why something can not be written. No permission and no room
// are for the caller to put right, and nothing was changed; other failures are
// the machine's.
func errNotWritten(path string, err error) error {
	unwritable := fault.Unwritable(path, err)
	isCause := func(known syscall.Errno) bool { return errors.Is(err, known) }
	switch {
	case slices.ContainsFunc([]syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS}, isCause):
		return fault.Input(path, unwritable.Reason, unwritable.Remedy)
	case slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, isCause):
		return fault.Input(path, unwritable.Reason, "make room and try again")
	}
	return unwritable
}
