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
	// headLength is that of the length and the version.
	headLength = 8
	// A CancelRequest has a process number and a key of 4 to 256 bytes (protocol 3.2).
	leastCancel = headLength + 4 + 4
	mostCancel  = headLength + 4 + 256
	// maxRequests are one for TLS and one for GSSAPI, as the server allows.
	maxRequests = 2
)

const againAndAgain = "requests for encryption again and again"

// firstPacket is a StartupMessage or a CancelRequest, as it came.
type firstPacket []byte

func (p firstPacket) code() uint32 { return binary.BigEndian.Uint32(p[4:headLength]) }

func (p firstPacket) asksForEncryption() bool {
	return p.code() == sslRequest || p.code() == gssRequest
}

func (p firstPacket) isCancel() bool { return p.code() == cancelRequest }

// packetReader reads what a client begins with, and not one byte more.
type packetReader struct {
	timeout time.Duration // for all of it
	remedy  string        // for a client that breaks the protocol
}

// readHead reads the length and the version.
func (r packetReader) readHead(client net.Conn) (firstPacket, *peer.Refusal) {
	head := make([]byte, headLength)
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, r.clientError(err)
	}
	return head, nil
}

// readRest reads the rest of the packet, and refuses what is none of the protocol's first packets.
func (r packetReader) readRest(client net.Conn, head firstPacket) (firstPacket, *peer.Refusal) {
	length := binary.BigEndian.Uint32(head)
	if length < headLength || length > maxStartup {
		return nil, r.malformed("a first packet whose length is none of the protocol's, or that begins TLS")
	}
	rest := make([]byte, length-headLength)
	if _, err := io.ReadFull(client, rest); err != nil {
		return nil, r.clientError(err)
	}
	packet := append(head, rest...)
	switch code := packet.code(); {
	case packet.asksForEncryption() && len(packet) != headLength:
		return nil, r.malformed("a request for encryption with more than its code")
	case code == cancelRequest && (len(packet) < leastCancel || len(packet) > mostCancel):
		return nil, r.malformed(fmt.Sprintf("a CancelRequest of %d bytes", len(packet)))
	case !packet.asksForEncryption() && code != cancelRequest && code>>16 != majorVersion:
		return nil, r.malformed(fmt.Sprintf("version %d.%d of the protocol", code>>16, code&0xffff))
	}
	return packet, nil
}

// answer answers a request for encryption.
func (r packetReader) answer(client net.Conn, answer byte) *peer.Refusal {
	if _, err := client.Write([]byte{answer}); err != nil {
		return r.clientError(err)
	}
	return nil
}

func (r packetReader) malformed(what string) *peer.Refusal {
	return peer.Refuse(peer.BadClient, "the client", "it sent "+what, r.remedy)
}

func (r packetReader) clientError(err error) *peer.Refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return peer.Refuse(peer.ClientTimeout, "the client", "no first packet within "+r.timeout.String(), "see what it waits for, or raise --first-packet-timeout")
	}
	return peer.Refuse(peer.BadClient, "the client", "it closed the connection before its first packet", "see its log")
}
