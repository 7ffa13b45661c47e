package agent

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// unlockedBytes are the bytes of secrets that the kernel did not lock.
var unlockedBytes atomic.Int64

// secret is key material in pages of its own, outside of Go's heap: the garbage
// collector never copies it, the kernel does not swap it out where the limit
// allows, and it is wiped when the last who holds it lets go.
type secret struct {
	pages   func() []byte // a function, since no verb of package fmt looks into one
	length  int
	locked  bool
	holders atomic.Int32
}

// newSecret takes the material over: the given bytes are wiped. The caller holds
// the secret, and is to release it.
func newSecret(material []byte) (*secret, error) {
	defer clear(material)
	pages, err := unix.Mmap(-1, 0, max(len(material), 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	s := &secret{pages: func() []byte { return pages }, length: len(material), locked: unix.Mlock(pages) == nil}
	if !s.locked {
		unlockedBytes.Add(int64(s.length))
	}
	// Not fatal: the process is not dumpable as a whole.
	_ = unix.Madvise(pages, unix.MADV_DONTDUMP)
	copy(pages, material)
	s.holders.Store(1)
	return s, nil
}

// bytes are those of the material, for as long as the secret is held.
func (s *secret) bytes() []byte { return s.pages()[:s.length] }

// hold keeps the secret from being wiped. Only who knows that it is held may
// call it.
func (s *secret) hold() { s.holders.Add(1) }

func (s *secret) release() {
	if s.holders.Add(-1) > 0 {
		return
	}
	pages := s.pages()
	clear(pages)
	if !s.locked {
		unlockedBytes.Add(-int64(s.length))
	}
	// Wiped already; if the pages stay mapped, nothing is disclosed.
	_ = unix.Munmap(pages)
	s.pages, s.length = nil, 0
}
