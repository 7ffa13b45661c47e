package agent

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// maxConnections to the socket are more than the workers of any Envoy.
	maxConnections = 512
	// maxStatusConnections are more than ask for metrics and probes.
	maxStatusConnections = 64
)

// connectionLimits leave descriptors to the scans of the folder and to the KMS.
func connectionLimits() (socket, status int) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return maxConnections, maxStatusConnections
	}
	return within(limit.Cur)
}

func within(descriptors uint64) (socket, status int) {
	return int(max(1, min(maxConnections, descriptors/2))), int(max(1, min(maxStatusConnections, descriptors/8)))
}

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
