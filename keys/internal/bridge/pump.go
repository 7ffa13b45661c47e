package bridge

import (
	"errors"
	"net"
	"sync"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// pump moves bytes both ways until both sides have ended. The end of one direction reaches the other side as an end of
// that direction alone; an error ends both. A side that does not read holds the other one up, for nothing is buffered
// but what was read last.
func pump(client, server peer.Stream) error {
	var group sync.WaitGroup
	var toServer, toClient error
	move := func(result *error, to, from peer.Stream) {
		*result = peer.Move(to, from)
		if *result == nil {
			// Who has closed already needs no word that nothing more comes.
			if err := to.CloseWrite(); !peer.IsDisconnect(err) {
				*result = err
			}
		}
		if *result != nil {
			client.Close()
			server.Close()
		}
	}
	group.Go(func() { move(&toServer, server, client) })
	move(&toClient, client, server)
	group.Wait()
	// Of two errors one is the consequence of the other: it says that the connection was closed here.
	if toClient != nil && !errors.Is(toClient, net.ErrClosed) {
		return toClient
	}
	return toServer
}
