package keystore

import (
	"os"
	"syscall"

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

// lock holds off other changes: two rotations at once would each write back the
// keyset they had read, and one of the new keys would be lost together with
// whatever was sealed with it meanwhile.
func (s *Store) lock() (unlock func(), err error) {
	folder, err := os.Open(s.folder)
	if err != nil {
		return nil, fault.Failure(s.folder, fault.Cause(err), "make the folder readable")
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		folder.Close()
		return nil, fault.Failure(s.folder, "it can not be locked ("+err.Error()+")", "keep keysets on a local file system")
	}
	return func() { folder.Close() }, nil
}
