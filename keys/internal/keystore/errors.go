package keystore

import (
	"errors"
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
	return fault.Failure(path, fault.Cause(err), "make the file readable")
}

// errNotWritten says why something can not be written. No permission and no room
// are for the caller to put right, and nothing was changed; other failures are
// the machine's.
func errNotWritten(path string, err error) error {
	for _, known := range []struct {
		cause  error
		remedy string
	}{
		{syscall.EACCES, "choose a place that can be written"},
		{syscall.EPERM, "choose a place that can be written"},
		{syscall.EROFS, "choose a place that can be written"},
		{syscall.ENOSPC, "make room and try again"},
		{syscall.EDQUOT, "make room and try again"},
	} {
		if errors.Is(err, known.cause) {
			return fault.Input(path, fault.Cause(err), known.remedy)
		}
	}
	return fault.Failure(path, fault.Cause(err), "choose a place that can be written")
}
