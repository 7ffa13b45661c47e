package localsocket

import (
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// refusalsLogged bounds the log lines of a peer that tries again and again.
const refusalsLogged = time.Second

// PeerListener takes connections of processes of the allowed users alone: the
// kernel tells who they are (SO_PEERCRED), as they were when they connected.
type PeerListener struct {
	*net.UnixListener
	Allowed []uint32
	Refused func() // counts
	Logger  *slog.Logger

	mutex    sync.Mutex
	lastLine time.Time
	unsaid   int
}

// Accept gives the next connection of an allowed peer; others are closed unread.
func (l *PeerListener) Accept() (net.Conn, error) {
	for {
		connection, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, err := credentials(connection)
		if err == nil && slices.Contains(l.Allowed, peer.Uid) {
			return connection, nil
		}
		l.refuse(peer, err)
		connection.Close()
	}
}

func credentials(connection *net.UnixConn) (*unix.Ucred, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return nil, err
	}
	var peer *unix.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) {
		peer, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return nil, err
	}
	return peer, asked
}

func (l *PeerListener) refuse(peer *unix.Ucred, err error) {
	l.Refused()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if now := time.Now(); now.Sub(l.lastLine) < refusalsLogged {
		l.unsaid++
		return
	} else {
		l.lastLine = now
	}
	attributes := []any{"allowed_uids", l.Allowed, "others_since_the_last_line", l.unsaid}
	if err != nil {
		attributes = append(attributes, "reason", "who it is can not be told ("+err.Error()+")")
	} else {
		attributes = append(attributes, "pid", peer.Pid, "uid", peer.Uid, "gid", peer.Gid)
	}
	l.unsaid = 0
	l.Logger.Warn("peer refused", attributes...)
}
