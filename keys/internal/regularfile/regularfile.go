// Package regularfile reads files that are files, to a bound. A FIFO or a device
// in a file's place would hold whoever opens it for ever.
package regularfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// What lies in a file's place and can't be read as one.
var (
	ErrNotRegular = errors.New("it is not a regular file")
	ErrTooLong    = errors.New("it is too long")
)

// Read reads a whole file of at most so many bytes. Links are followed: mounted
// ConfigMaps are made of them.
func Read(path string, most int64) ([]byte, error) {
	// Without O_NONBLOCK a FIFO opens when somebody writes to it, if ever.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV): // a socket, a device that is not there
		return nil, ErrNotRegular
	case err != nil:
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, ErrTooLong
	}
	return text, err
}
