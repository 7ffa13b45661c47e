package keystore

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// begin begins a change of a name: alone in the folder, with nothing left of a
// command that was killed.
func (s *Store) begin(name string) (unlock func(), err error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	unlock, err = s.lock()
	if err != nil {
		return nil, err
	}
	if err := s.sweep(name); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// lockPatience is how long a change waits for others: more than any number of
// them that a person starts at once takes with a KMS that answers.
const lockPatience = time.Minute

// lock holds off other changes: two rotations at once would each write back the
// keyset they had read, and one of the new keys would be lost together with
// whatever was sealed with it meanwhile. Whoever can read the folder can hold
// its lock, so the wait has an end.
func (s *Store) lock() (unlock func(), err error) {
	folder, err := os.Open(s.folder)
	if err != nil {
		return nil, fault.Failure(s.folder, fault.Cause(err), "make the folder readable")
	}
	for until := time.Now().Add(s.patience); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { folder.Close() }, nil
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EWOULDBLOCK) && time.Now().Before(until):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			err = fault.Failure(s.folder, fmt.Sprintf("another program has held its lock for %s", s.patience),
				"see which one with lslocks, and try again when it has ended")
		default:
			err = fault.Failure(s.folder, "it can not be locked ("+err.Error()+")", "keep keysets on a local file system")
		}
		folder.Close()
		return nil, err
	}
}
