package policy

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// replaceable refuses to write a bundle in the place of anything but a bundle: a slip of the
// pen would take away a key, or turn a device into a file.
func replaceable(out string, keys ...string) error {
	const remedy = "name a new file, or a bundle that was built before"
	info, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a folder that is not there shows when it is written
	case errors.Is(err, fs.ErrPermission):
		return fault.Unwritable(out, err)
	case err != nil:
		return fault.Input(out, fault.Cause(err), remedy)
	case info.Mode()&fs.ModeSymlink != 0:
		return fault.Input(out, "a symbolic link, which would be replaced itself", "name the file that it leads to")
	case !info.Mode().IsRegular():
		return fault.Input(out, "no regular file", remedy)
	}
	for _, key := range keys {
		if other, err := os.Stat(key); err == nil && os.SameFile(info, other) {
			return fault.Input(out, "this is a key, which the bundle would replace", remedy)
		}
	}
	packed, err := isGzip(out)
	switch {
	case err != nil:
		return fault.Failure(out, fault.Cause(err), "see that it can be read")
	case info.Size() > 0 && !packed:
		return fault.Input(out, "a file that is no bundle, which would be lost", remedy+"; or take the file away")
	}
	return nil
}

// isGzip tells by the first bytes, as file(1) does.
func isGzip(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var magic [2]byte
	_, err = io.ReadFull(file, magic[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return magic == [2]byte{0x1f, 0x8b}, err
}
