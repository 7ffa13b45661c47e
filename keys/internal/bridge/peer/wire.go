package peer

import "sync"

// wire is what TLS reads from and writes to.
type wire struct {
	Socket

	// Of what comes: bytes that were read before TLS began; what is done before more is waited for; and while much comes,
	// a buffer with what TLS has not taken yet.
	begun      []byte
	beforeWait func() error
	isBusy     bool
	incoming   *[busyBuffer]byte
	start, end int

	// Of what goes out: the records of one Write, which leave together.
	outgoing  sync.Mutex // TLS writes by itself too, beside a Write
	isHolding bool
	held      *[busyBuffer]byte
	filled    int
}

func (w *wire) Read(bytes []byte) (int, error) {
	if len(w.begun) > 0 {
		n := copy(bytes, w.begun)
		w.begun = w.begun[n:]
		return n, nil
	}
	if w.incoming == nil {
		if w.beforeWait != nil {
			if err := w.beforeWait(); err != nil {
				return 0, err
			}
		}
		if !w.isBusy {
			n, err := w.Socket.Read(bytes)
			w.isBusy = n == len(bytes)
			return n, err
		}
		var err error
		if w.incoming, w.end, err = receive(w.Socket, busyBuffer); err != nil {
			return 0, err
		}
		w.isBusy = w.end == busyBuffer
	}
	n := copy(bytes, w.incoming[w.start:w.end])
	if w.start += n; w.start == w.end {
		giveBack(w.incoming, w.end)
		w.incoming, w.start, w.end = nil, 0, 0
	}
	return n, nil
}

func (w *wire) Write(bytes []byte) (int, error) {
	w.outgoing.Lock()
	defer w.outgoing.Unlock()
	if !w.isHolding {
		return w.Socket.Write(bytes)
	}
	if w.held == nil {
		w.held = takeBuffer()
	}
	if len(bytes) > busyBuffer-w.filled {
		if err := w.flush(); err != nil {
			return 0, err
		}
		return w.Socket.Write(bytes)
	}
	w.filled += copy(w.held[w.filled:], bytes)
	return len(bytes), nil
}

// hold keeps what is written, until release.
func (w *wire) hold() {
	w.outgoing.Lock()
	defer w.outgoing.Unlock()
	w.isHolding = true
}

// release writes what was held.
func (w *wire) release() error {
	w.outgoing.Lock()
	defer w.outgoing.Unlock()
	w.isHolding = false
	if w.held == nil {
		return nil
	}
	err := w.flush()
	giveBack(w.held, 0) // nothing in it was clear text
	w.held = nil
	return err
}

func (w *wire) flush() error {
	_, err := w.Socket.Write(w.held[:w.filled])
	w.filled = 0
	return err
}
