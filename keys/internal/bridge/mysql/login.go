package mysql

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errSequence = errors.New("a packet out of order")
	// errStopped ends the client's direction between two packets, when the server has ended the login.
	errStopped = errors.New("the login is over")
	// errServerGone ends the client's direction when the server takes no more.
	errServerGone = errors.New("the server takes no more")
	// errClientGone ends the server's direction when the client takes no more.
	errClientGone = errors.New("the client takes no more")
)

// longAgo, as a deadline, wakes whoever reads.
var longAgo = time.Unix(1, 0)

// login passes the packets of the connection phase behind the HandshakeResponse, until the server's OK or ERR. Each side
// counts its own packets: the side within TLS has had one more, the SSLRequest, and the client two more if it asked for a
// public key. With OK or ERR this ends: each command begins to count anew, COM_CHANGE_USER too.
//
// A plugin may send several packets before it is answered, or none after its last. So the directions are independent.
type login struct {
	client net.Conn
	server net.Conn
	// stopping says that the server's direction has ended.
	stopping atomic.Bool
	// endsServersTLS says that the server's TLS ends here: whoever wants its public key gets one of the bridge's.
	endsServersTLS bool

	// What is below changes in both directions.
	mutex  sync.Mutex
	state  loginState
	failed *loginError
}

type loginState struct {
	client byte // sequence number of the last packet that passed to or from the client
	server byte
	plugin string
	// scramble is what the client proves its password by.
	scramble []byte
	// wantsPassword says that the server asked for the password of caching_sha2_password.
	wantsPassword bool
	// awaitsServer says that the last packet came from the client.
	awaitsServer bool
}

// loginError is why a login can not be finished.
type loginError struct {
	err        error
	fromClient bool
}

// run returns nil when the client has the server's OK or ERR, and nothing of what follows was read.
func (l *login) run() *loginError {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := l.passClient(); !errors.Is(err, errStopped) {
			l.fail(err, l.blamesClient(err))
			l.server.Close() // ends the server's direction
		}
	}()
	last, err := l.passServer()
	if err != nil {
		l.fail(err, errors.Is(err, errClientGone))
	}
	// The client must be silent until it has the server's last word.
	l.stopping.Store(true)
	_ = l.client.SetReadDeadline(longAgo)
	<-stopped
	if l.failed != nil {
		return l.failed
	}
	_ = l.client.SetDeadline(time.Time{})
	_ = l.server.SetDeadline(time.Time{})
	if _, err := l.client.Write(last.bytes()); err != nil {
		return &loginError{err, true}
	}
	return nil
}

// fail keeps the first error: that of the other direction is its consequence.
func (l *login) fail(err error, fromClient bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.failed == nil {
		l.failed = &loginError{err, fromClient}
	}
}

// blamesClient says whether an error of the client's direction is the client's: not where the server was to speak.
func (l *login) blamesClient(err error) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return !errors.Is(err, errServerGone) && !(errors.Is(err, os.ErrDeadlineExceeded) && l.state.awaitsServer)
}

// passServer passes packets to the client, until the last one, which it gives.
func (l *login) passServer() (packet, error) {
	for {
		p, err := readPacket(l.server)
		if err != nil {
			return packet{}, err
		}
		p, isLast, err := l.toClient(p)
		if isLast || err != nil {
			return p, err
		}
	}
}

// toClient passes one packet. If it is the last one it is given, with the client's number, and not sent.
func (l *login) toClient(p packet) (numbered packet, isLast bool, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	first, ok := p.first()
	// An ERR may come unasked, with a number of its own.
	if !ok || p.sequence != l.state.server+1 && first != errPacket {
		return p, false, errSequence
	}
	l.state.take(p)
	p.sequence = l.state.client
	if first == okPacket || first == errPacket {
		return p, true, nil
	}
	if _, err := l.client.Write(p.bytes()); err != nil {
		return p, false, errClientGone
	}
	return p, false, nil
}

// take notes what a packet of the server asks for.
func (s *loginState) take(p packet) {
	s.server, s.client, s.awaitsServer, s.wantsPassword = p.sequence, s.client+1, false, false
	switch p.payload[0] {
	case authSwitch:
		s.plugin, s.scramble = parseSwitch(p.payload)
	case moreData:
		s.wantsPassword = s.plugin == cachingSHA2 && len(p.payload) == 2 && p.payload[1] == performFullAuthentication
	}
}

// passClient passes packets to the server until it is stopped between two packets.
func (l *login) passClient() error {
	for {
		var head [packetHead]byte
		n, err := io.ReadFull(l.client, head[:])
		if err != nil {
			if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && l.stopping.Load() {
				return errStopped
			}
			return err
		}
		p, err := readPayload(l.client, head)
		if err != nil {
			return err
		}
		if err := l.toServer(p); err != nil {
			return err
		}
	}
}

// toServer passes one packet, or answers it itself if it asks for a public key.
func (l *login) toServer(p packet) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if p.sequence != l.state.client+1 {
		return errSequence
	}
	l.state.client = p.sequence
	if l.endsServersTLS && l.state.wantsPassword && len(p.payload) == 1 && p.payload[0] == requestPublicKey {
		return l.exchangePassword()
	}
	return l.send(p.payload)
}

// send sends the server its next packet.
func (l *login) send(payload []byte) error {
	l.state.server++
	l.state.wantsPassword, l.state.awaitsServer = false, true
	if _, err := l.server.Write(packet{l.state.server, payload}.bytes()); err != nil {
		return errServerGone
	}
	return nil
}

// exchangePassword gives the client a key, and the server the password that the client encrypts with it.
func (l *login) exchangePassword() error {
	key, err := publicKey()
	if err != nil {
		return err
	}
	l.state.client++
	if _, err := l.client.Write(packet{l.state.client, key}.bytes()); err != nil {
		return err
	}
	p, err := readPacket(l.client)
	if err != nil {
		return err
	}
	if p.sequence != l.state.client+1 {
		return errSequence
	}
	l.state.client = p.sequence
	password, err := decryptPassword(p.payload, l.state.scramble)
	if err != nil {
		return err
	}
	defer clear(password)
	return l.send(password)
}
