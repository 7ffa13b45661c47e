package agent

import (
	"net"
	"sync"
)

// limitedListener has so many connections open at once and no more: the others
// wait in the kernel's queue, and take no descriptor of the process.
type limitedListener struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	close  func() error
}

func limit(listener net.Listener, connections int) *limitedListener {
	closed := make(chan struct{})
	return &limitedListener{
		Listener: listener, places: make(chan struct{}, connections), closed: closed,
		close: sync.OnceValue(func() error {
			close(closed)
			return listener.Close()
		}),
	}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	connection, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{connection, sync.OnceFunc(func() { <-l.places })}, nil
}

func (l *limitedListener) Close() error { return l.close() }

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite lets a server that refuses a request be heard before it closes.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
