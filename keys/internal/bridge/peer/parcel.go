package peer

import (
	"errors"
	"io"
)

// parcel gathers bytes that are written together. It has a buffer only while it holds some.
type parcel struct {
	to     io.Writer
	buffer *[busyBuffer]byte
	end    int  // of what was gathered
	isLent bool // somebody puts bytes into room
}

// wouldWait ends a read that would wait with a buffer in its hands. To TLS it is an error that passes: the next read goes
// on where this one stopped.
type wouldWait struct{}

func (wouldWait) Error() string   { return "nothing has come yet" }
func (wouldWait) Timeout() bool   { return true }
func (wouldWait) Temporary() bool { return true }

// add gathers bytes, for which there has to be room.
func (p *parcel) add(bytes []byte) {
	if len(bytes) == 0 {
		return
	}
	if p.buffer == nil {
		p.buffer = takeBuffer()
	}
	p.end += copy(p.room(), bytes)
}

// room is where further bytes go.
func (p *parcel) room() []byte { return p.buffer[p.end:] }

// hasRoom says whether a record of TLS has room.
func (p *parcel) hasRoom() bool { return p.buffer == nil || len(p.room()) >= maxRecord }

// addFrom gathers what one read gives without waiting.
func (p *parcel) addFrom(from io.Reader) error {
	p.isLent = true
	n, err := from.Read(p.room())
	p.isLent = false
	p.end += n
	if errors.Is(err, wouldWait{}) {
		return nil
	}
	return err
}

// beforeWait writes what was gathered before more is waited for.
func (p *parcel) beforeWait() error {
	if p.isLent {
		return wouldWait{}
	}
	return p.send()
}

// send writes what was gathered.
func (p *parcel) send() error {
	if p.buffer == nil {
		return nil
	}
	_, err := p.to.Write(p.buffer[:p.end])
	giveBack(p.buffer, p.end)
	p.buffer, p.end = nil, 0
	return err
}
