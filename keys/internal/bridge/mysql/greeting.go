package mysql

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Capabilities, of the protocol's documentation.
const (
	connectWithDB      = 1 << 3
	protocol41         = 1 << 9
	clientSSL          = 1 << 11
	pluginAuth         = 1 << 19
	lengthEncodedProof = 1 << 21 // CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
)

// scrambleLength is that of the random bytes that passwords are proved by.
const scrambleLength = 20

var errGreeting = errors.New("a greeting that is not of protocol 10")

// greeting is the server's Protocol::HandshakeV10: what of it concerns the bridge.
type greeting struct {
	payload []byte
	lower   int // where the lower two bytes of the capabilities stand
}

// parseGreeting finds the capabilities: protocol 10, version, thread, 8 bytes of scramble, a filler, capabilities.
func parseGreeting(payload []byte) (greeting, error) {
	if len(payload) == 0 || payload[0] != 10 {
		return greeting{}, errGreeting
	}
	end := bytes.IndexByte(payload[1:], 0)
	if end < 0 {
		return greeting{}, errGreeting
	}
	lower := 1 + end + 1 + 4 + 8 + 1
	// Behind them: character set, status, upper capabilities, length of the scramble, 10 bytes, the rest of the scramble.
	if len(payload) < lower+2+1+2+2+1+10+(scrambleLength-8) {
		return greeting{}, errGreeting
	}
	return greeting{payload, lower}, nil
}

func (g greeting) offersTLS() bool {
	return binary.LittleEndian.Uint16(g.payload[g.lower:])&clientSSL != 0
}

// withoutTLS is the greeting for a client whose way has no TLS.
func (g greeting) withoutTLS() []byte {
	changed := bytes.Clone(g.payload)
	capabilities := binary.LittleEndian.Uint16(changed[g.lower:])
	binary.LittleEndian.PutUint16(changed[g.lower:], capabilities&^clientSSL)
	return changed
}

// withTLS is the greeting for a client to which TLS is offered.
func (g greeting) withTLS() []byte {
	changed := bytes.Clone(g.payload)
	capabilities := binary.LittleEndian.Uint16(changed[g.lower:])
	binary.LittleEndian.PutUint16(changed[g.lower:], capabilities|clientSSL)
	return changed
}

func (g greeting) scramble() []byte {
	rest := g.lower + 2 + 1 + 2 + 2 + 1 + 10
	first := g.payload[g.lower-9 : g.lower-1]
	return append(bytes.Clone(first), g.payload[rest:rest+scrambleLength-8]...)
}

// parseSwitch reads an AuthSwitchRequest: a plugin, and a scramble of its own. One that is malformed names no plugin.
func parseSwitch(payload []byte) (plugin string, scramble []byte) {
	name, rest, ok := bytes.Cut(payload[1:], []byte{0})
	if !ok || len(rest) < scrambleLength {
		return "", nil
	}
	return string(name), bytes.Clone(rest[:scrambleLength])
}
