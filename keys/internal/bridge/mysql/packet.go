package mysql

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// packetHead is the length of the payload in three bytes, and the sequence number.
	packetHead = 4
	// maxPayload of a packet while a connection is set up: the servers keep at most 64 KiB of connection attributes,
	// and authentication data is far smaller.
	maxPayload = 128 << 10
)

var errTooLong = errors.New("a packet that is longer than one can be before the login")

// What packets of the server begin with.
const (
	okPacket   = 0x00
	moreData   = 0x01
	authSwitch = 0xfe
	errPacket  = 0xff
)

// packet is a message of the connection phase; none there is longer than one packet.
type packet struct {
	sequence byte
	payload  []byte
}

// readPayload reads the payload behind its head, and not one byte more.
func readPayload(from io.Reader, head [packetHead]byte) (packet, error) {
	length := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if length > maxPayload {
		return packet{}, errTooLong
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(from, payload); err != nil {
		return packet{}, err
	}
	return packet{head[3], payload}, nil
}

func readPacket(from io.Reader) (packet, error) {
	var head [packetHead]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return packet{}, err
	}
	return readPayload(from, head)
}

// bytes is the packet as it is sent.
func (p packet) bytes() []byte {
	all := make([]byte, 0, packetHead+len(p.payload))
	all = append(all, byte(len(p.payload)), byte(len(p.payload)>>8), byte(len(p.payload)>>16), p.sequence)
	return append(all, p.payload...)
}

func (p packet) first() (byte, bool) {
	if len(p.payload) == 0 {
		return 0, false
	}
	return p.payload[0], true
}

// errorPacket is an ERR. Only who knows protocol 4.1 takes an SQLSTATE: nobody before the HandshakeResponse.
func errorPacket(sequence byte, code uint16, state, message string) packet {
	payload := binary.LittleEndian.AppendUint16([]byte{errPacket}, code)
	if state != "" {
		payload = append(append(payload, '#'), state...)
	}
	return packet{sequence, append(payload, message...)}
}
