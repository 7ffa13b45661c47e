// Package localsocket makes the sockets on which a process serves the Envoy beside it: a Unix socket for chosen users
// alone, and TCP for what is no secret or for the loopback.
package localsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxSocketPath is what the kernel's address has room for, less the ending NUL.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// Listen makes a Unix socket, mode 0600. A socket that nobody listens on
// is replaced; a live one, or any other file, is not. Closing the listener
// removes the socket.
func Listen(ctx context.Context, path string) (*net.UnixListener, error) {
	if len(path) > maxSocketPath {
		return nil, fault.Input(path, fmt.Sprintf("longer than a socket's path can be (%d bytes)", maxSocketPath), "choose a shorter one")
	}
	// Two processes that start at once could both find the socket stale, and the
	// second would remove the first's: they take turns by a lock on the folder.
	folder, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.NoFolder(path)
	case err != nil:
		return nil, fault.Failure(path, "its folder can not be read", "make "+filepath.Dir(path)+" readable")
	}
	defer folder.Close()
	if err := lockFolder(ctx, folder, path); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// The mode counts from the first moment, so it is set by the mask. The mask is
	// the process's: nothing else makes files while the process starts.
	before := syscall.Umask(0o177)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(before)
	if err != nil {
		return nil, fault.Failure(path, "the socket can not be made ("+err.Error()+")", "choose a folder that can be written")
	}
	return listener, nil
}

const (
	// LockPatience is far longer than another process takes to start. Whoever can read
	// the folder can hold the lock for ever.
	LockPatience = 5 * time.Second
	lockRetry    = 20 * time.Millisecond
)

func lockFolder(ctx context.Context, folder *os.File, path string) error {
	ctx, cancel := context.WithTimeout(ctx, LockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fault.Failure(path, "its folder can not be locked ("+err.Error()+")", "choose a local file system")
		}
		select {
		case <-ctx.Done():
			return fault.Failure(path, "another process keeps its folder locked", "end that one, or choose a folder that only the user of this process can read")
		case <-time.After(lockRetry):
		}
	}
}

// ListenTCP makes the TCP socket that the flag names.
func ListenTCP(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		var network *net.OpError
		if errors.As(err, &network) {
			err = network.Err
		}
		return nil, fault.Input(flag+" "+address, "it can not be listened on ("+err.Error()+")",
			"use HOST:PORT with an address of this machine and a free port")
	}
	return listener, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.Failure(path, "it can not be looked at ("+err.Error()+")", "choose another path")
	case info.Mode().Type() != fs.ModeSocket:
		return fault.Input(path, "a file that is no socket is there", "choose another path, or move it away")
	}
	connection, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		connection.Close()
		return fault.Input(path, "another process listens on it", "stop that one first, or choose another path")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fault.Failure(path, "whether it is in use can not be told ("+err.Error()+")", "choose another path")
	}
	if err := os.Remove(path); err != nil {
		return fault.Failure(path, "the stale socket can not be removed", "remove it")
	}
	return nil
}
