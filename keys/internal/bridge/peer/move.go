package peer

import (
	"io"
	"sync"
	"syscall"
)

const (
	// idleBuffer is what a direction out of TLS holds while nothing passes.
	idleBuffer = 512
	// maxRecord is how much a record of TLS carries.
	maxRecord = 16 << 10
	// busyBuffer is taken while bytes pass: for four records of TLS, with what TLS adds to them.
	busyBuffer = 4 * (maxRecord + 256)
	// busyBytes are those that four records carry.
	busyBytes = 4 * maxRecord
)

var busyBuffers = sync.Pool{New: func() any { return new([busyBuffer]byte) }}

func takeBuffer() *[busyBuffer]byte { return busyBuffers.Get().(*[busyBuffer]byte) }

// giveBack gives a buffer back whose first bytes were used: values do not wait in it for the next connection.
func giveBack(buffer *[busyBuffer]byte, used int) {
	clear(buffer[:used])
	busyBuffers.Put(buffer)
}

// Move moves bytes until from ends. While it waits for them it holds no busy buffer.
func Move(to io.Writer, from Stream) error {
	if secure, ok := from.(*Conn); ok {
		return secure.moveTo(to)
	}
	for {
		switch err := movePart(to, from.(Socket)); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// movePart moves what has come, at most what four records carry.
func movePart(to io.Writer, from Socket) error {
	buffer, n, err := receive(from, busyBytes)
	if err != nil {
		return err
	}
	defer giveBack(buffer, n)
	_, err = to.Write(buffer[:n])
	return err
}

// receive waits for bytes, and takes a buffer when they are there, for so many at most.
func receive(from Socket, most int) (*[busyBuffer]byte, int, error) {
	source, err := from.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	var buffer *[busyBuffer]byte
	var n int
	var failed error
	waited := source.Read(func(fd uintptr) bool {
		buffer = takeBuffer()
		n, failed = readDescriptor(int(fd), buffer[:most])
		if failed == nil && n > 0 {
			return true
		}
		giveBack(buffer, 0)
		return failed != syscall.EAGAIN
	})
	switch {
	case waited != nil:
		return nil, 0, waited
	case failed != nil:
		return nil, 0, failed
	case n == 0:
		return nil, 0, io.EOF
	}
	return buffer, n, nil
}

func readDescriptor(fd int, bytes []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, bytes)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
