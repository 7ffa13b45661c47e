package peer

import "io"

// parcel gathers bytes that are written together. It has a buffer only while it holds some.
type parcel struct {
	to         io.Writer
	buffer     *[busyBuffer]byte
	start, end int  // what was gathered and not sent
	isLent     bool // somebody puts bytes into room
}

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

// addFrom gathers what one read gives.
func (p *parcel) addFrom(from io.Reader) error {
	p.isLent = true
	n, err := from.Read(p.room())
	p.isLent = false
	p.end += n
	return err
}

// send writes what was gathered.
func (p *parcel) send() error {
	if p.buffer == nil {
		return nil
	}
	var err error
	if p.start < p.end {
		_, err = p.to.Write(p.buffer[p.start:p.end])
		p.start = p.end
	}
	if !p.isLent {
		giveBack(p.buffer, p.end)
		p.buffer, p.start, p.end = nil, 0, 0
	}
	return err
}
