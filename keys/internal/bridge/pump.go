package bridge

import (
	"errors"
	"io"
	"net"
	"sync"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

const (
	// idleBuffer is what a connection holds for each direction while little passes.
	idleBuffer = 4 << 10
	// busyBuffer is taken while a direction fills the small one; it is two records of TLS.
	busyBuffer = 32 << 10
)

var busyBuffers = sync.Pool{New: func() any { return new([busyBuffer]byte) }}

// pump moves bytes both ways until both sides have ended. The end of one direction reaches the other side as an end of
// that direction alone; an error ends both. A side that does not read holds the other one up, for nothing is buffered
// but what was read last.
func pump(client, server peer.Stream) error {
	var group sync.WaitGroup
	var toServer, toClient error
	move := func(result *error, to, from peer.Stream) {
		*result = copyBytes(to, from)
		if *result == nil {
			*result = to.CloseWrite()
		}
		if *result != nil {
			client.Close()
			server.Close()
		}
	}
	group.Go(func() { move(&toServer, server, client) })
	group.Go(func() { move(&toClient, client, server) })
	group.Wait()
	// Of two errors one is the consequence of the other: it says that the connection was closed here.
	if toClient != nil && !errors.Is(toClient, net.ErrClosed) {
		return toClient
	}
	return toServer
}

// copyBytes moves bytes until from ends.
func copyBytes(to io.Writer, from io.Reader) error {
	small := make([]byte, idleBuffer)
	for {
		n, err := from.Read(small)
		if n > 0 {
			if _, failed := to.Write(small[:n]); failed != nil {
				return failed
			}
		}
		if err == nil && n == len(small) {
			err = copyBusy(to, from)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyBusy moves bytes with a large buffer until a read fits into the small one.
func copyBusy(to io.Writer, from io.Reader) error {
	buffer := busyBuffers.Get().(*[busyBuffer]byte)
	defer func() {
		clear(buffer[:]) // values do not wait here for the next connection
		busyBuffers.Put(buffer)
	}()
	for {
		n, err := from.Read(buffer[:])
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				return failed
			}
		}
		if err != nil || n <= idleBuffer {
			return err
		}
	}
}
