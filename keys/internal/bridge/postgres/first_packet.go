package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// What stands in a version's place in a client's first packet, and what is asked of it.
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
	majorVersion  = 3
)

const (
	// maxStartup is the server's own limit (MAX_STARTUP_PACKET_LENGTH).
	maxStartup = 10_000
	// head is the length and the version.
	head = 8
	// A CancelRequest has a process number and a key of 4 to 256 bytes (protocol 3.2).
	leastCancel = head + 4 + 4
	mostCancel  = head + 4 + 256
	// maxRequests are one for TLS and one for GSSAPI, as the server allows.
	maxRequests = 2
)

// firstPacket is a StartupMessage or a CancelRequest, as it came.
type firstPacket []byte

func (p firstPacket) code() uint32 { return binary.BigEndian.Uint32(p[4:head]) }

func (p firstPacket) isCancel() bool { return len(p) >= head && p.code() == cancelRequest }

// readFirstPacket declines encryption, which the way from the client does not need, and gives what comes then. It reads
// not one byte more.
func (p Protocol) readFirstPacket(client net.Conn) (firstPacket, *peer.Refusal) {
	_ = client.SetDeadline(time.Now().Add(p.FirstPacketTimeout))
	for range maxRequests + 1 {
		packet, refusal := p.readPacket(client)
		if refusal != nil {
			return nil, refusal
		}
		switch code := packet.code(); {
		case code == sslRequest || code == gssRequest:
			if len(packet) != head {
				return nil, malformed("a request for encryption with more than its code")
			}
			if _, err := client.Write([]byte{'N'}); err != nil {
				return nil, p.clientError(err)
			}
			continue
		case code == cancelRequest && (len(packet) < leastCancel || len(packet) > mostCancel):
			return nil, malformed(fmt.Sprintf("a CancelRequest of %d bytes", len(packet)))
		case code != cancelRequest && code>>16 != majorVersion:
			return nil, malformed(fmt.Sprintf("version %d.%d of the protocol", code>>16, code&0xffff))
		}
		_ = client.SetDeadline(time.Time{})
		return packet, nil
	}
	return nil, malformed("it asks for encryption again and again")
}

func (p Protocol) readPacket(client net.Conn) (firstPacket, *peer.Refusal) {
	packet := make([]byte, head)
	if _, err := io.ReadFull(client, packet); err != nil {
		return nil, p.clientError(err)
	}
	length := binary.BigEndian.Uint32(packet)
	if length < head || length > maxStartup {
		return nil, malformed("a first packet whose length is none of the protocol's, or that begins TLS")
	}
	rest := make([]byte, length-head)
	if _, err := io.ReadFull(client, rest); err != nil {
		return nil, p.clientError(err)
	}
	return append(packet, rest...), nil
}

func malformed(what string) *peer.Refusal {
	return peer.Refuse(peer.BadClient, "the client", "it sent "+what, "connect with PostgreSQL's protocol 3, without TLS, by way of the sidecar")
}

func (p Protocol) clientError(err error) *peer.Refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return peer.Refuse(peer.ClientTimeout, "the client", "no first packet within "+p.FirstPacketTimeout.String(), "see what the sidecar waits for, or raise --first-packet-timeout")
	}
	return peer.Refuse(peer.BadClient, "the client", "it closed the connection before its first packet", "see the sidecar's log")
}
