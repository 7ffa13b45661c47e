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

// Socket is a connection of the system's.
type Socket interface {
	Stream
	syscall.Conn
}

// Conn is a connection within TLS whose sending side can be closed alone.
type Conn struct {
	*tls.Conn
	Raw  Stream // what TLS runs on
	wire *wire
}

// Server is a connection on which TLS begins as a server, and some bytes of which may have been read already.
func Server(raw Socket, begun []byte, config *tls.Config) *Conn {
	w := &wire{Socket: raw, begun: begun}
	return &Conn{Conn: tls.Server(w, config), Raw: raw, wire: w}
}

// Client is a connection on which TLS begins as a client.
func Client(raw Socket, config *tls.Config) *Conn {
	w := &wire{Socket: raw}
	return &Conn{Conn: tls.Client(w, config), Raw: raw, wire: w}
}

// Write sends bytes; those of several records leave together.
func (c *Conn) Write(bytes []byte) (int, error) {
	if len(bytes) <= maxRecord {
		return c.Conn.Write(bytes)
	}
	c.wire.hold()
	n, err := c.Conn.Write(bytes)
	if failed := c.wire.release(); err == nil {
		err = failed
	}
	return n, err
}

// moveTo moves what comes within TLS until that ends. Records that have come already are written together, and before
// more is waited for.
func (c *Conn) moveTo(to io.Writer) error {
	p := &parcel{to: to}
	idle := make([]byte, idleBuffer)
	c.wire.beforeWait = p.beforeWait
	for {
		n, err := c.Read(idle)
		p.add(idle[:n])
		if err == nil && n == len(idle) {
			err = p.addFrom(c) // the rest of the record
		}
		if err == nil && p.hasRoom() {
			continue
		}
		if failed := p.send(); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
