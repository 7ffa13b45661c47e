package mysql

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// responseHead is what an SSLRequest consists of, and what a HandshakeResponse begins with: capabilities, the longest
// packet, the character set, and 23 bytes, of which the last four are MariaDB's extended capabilities.
const responseHead = 32

var (
	errResponse   = errors.New("a HandshakeResponse that is not of protocol 4.1")
	errSSLRequest = errors.New("a request for TLS that is none")
	errAsksForTLS = errors.New("a request for TLS, which was not offered")
)

// response is the client's Protocol::HandshakeResponse41.
type response struct {
	payload []byte
}

// parseResponse reads the response of a client to which no TLS was offered.
func parseResponse(payload []byte) (response, error) {
	if asksForTLS(payload) {
		return response{}, errAsksForTLS
	}
	return parseAnyResponse(payload)
}

// parseAnyResponse reads a response, within TLS or without.
func parseAnyResponse(payload []byte) (response, error) {
	if len(payload) <= responseHead || binary.LittleEndian.Uint32(payload)&protocol41 == 0 {
		return response{}, errResponse
	}
	return response{payload}, nil
}

// asksForTLS says whether a client begins TLS behind this packet, as the lower capabilities say in every version.
func asksForTLS(payload []byte) bool {
	return len(payload) >= 2 && binary.LittleEndian.Uint16(payload)&clientSSL != 0
}

// withTLS is the response for the server, to which the bridge speaks within TLS.
func (r response) withTLS() []byte {
	changed := bytes.Clone(r.payload)
	binary.LittleEndian.PutUint32(changed, binary.LittleEndian.Uint32(changed)|clientSSL)
	return changed
}

// withoutTLS is the response for Envoy, to which the bridge speaks in plain text.
func (r response) withoutTLS() []byte {
	changed := bytes.Clone(r.payload)
	binary.LittleEndian.PutUint32(changed, binary.LittleEndian.Uint32(changed)&^clientSSL)
	return changed
}

// sslRequest asks for TLS with what the client said of itself.
func (r response) sslRequest() []byte { return r.withTLS()[:responseHead] }

// plugin is the authentication plugin that the client's proof is for; "" where it names none that can be found.
func (r response) plugin() string {
	capabilities := binary.LittleEndian.Uint32(r.payload)
	if capabilities&pluginAuth == 0 {
		return ""
	}
	_, rest, ok := bytes.Cut(r.payload[responseHead:], []byte{0}) // the user
	if !ok || len(rest) == 0 {
		return ""
	}
	// The proof's length is one byte in both forms, for none has more than 250.
	length := int(rest[0])
	if length > 250 || len(rest) < 1+length {
		return ""
	}
	rest = rest[1+length:]
	if capabilities&connectWithDB != 0 {
		if _, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
			return ""
		}
	}
	name, _, ok := bytes.Cut(rest, []byte{0})
	if !ok {
		return ""
	}
	return string(name)
}
