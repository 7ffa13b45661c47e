package peer

import (
	"crypto/tls"
	"io"
	"net"
	"syscall"
)

// Stream is a connection whose sending side can be closed alone.
type Stream interface {
	net.Conn
	CloseWrite() error
}

// Conn is a connection within TLS whose sending side can be closed alone.
type Conn struct {
	*tls.Conn
	Raw Stream // what TLS runs on
}

// CloseWrite tells the peer that nothing more comes: within TLS, and to its system.
func (c *Conn) CloseWrite() error {
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	return c.Raw.CloseWrite()
}

// HasUnread says whether the peer has sent bytes that nobody has read. Its end is io.EOF.
func HasUnread(raw syscall.Conn) (bool, error) {
	control, err := raw.SyscallConn()
	if err != nil {
		return false, err
	}
	var waiting int
	var peeked error
	if err := control.Control(func(fd uintptr) {
		waiting, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}); err != nil {
		return false, err
	}
	switch {
	case peeked == syscall.EAGAIN:
		return false, nil
	case peeked != nil:
		return false, peeked
	case waiting == 0:
		return false, io.EOF
	}
	return true, nil
}
