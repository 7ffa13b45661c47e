package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Look is what a body looks like: what stands where a value should be sealed, and everything beside it. `loadtests/bodies.py`
// makes the same of a body that it knows.
type Look struct {
	Bytes int `json:"bytes"`
	// Strings that are envelopes, and strings that are values in clear.
	Envelopes int `json:"envelopes"`
	Clear     int `json:"clear"`
	// SHA-256 of all that is outside of these, and of the values in clear, each with a line feed.
	Outside string `json:"outside"`
	Values  string `json:"values"`
}

var (
	// A string that begins so is an envelope, if nothing but its alphabet follows.
	envelope = []byte(`"fv1.`)
	// And so a value of `loadtests/bodies.py` in clear. Nothing else there begins so.
	clear = []byte(`"CLEAR-`)
)

func look(body []byte) Look {
	found := Look{Bytes: len(body)}
	outside, values := sha256.New(), sha256.New()
	// Where the next of each begins; of what was passed it is looked for anew.
	nextEnvelope, nextClear := -1, -1
	at, written := 0, 0
	for {
		nextEnvelope, nextClear = next(body, envelope, at, nextEnvelope), next(body, clear, at, nextClear)
		begin := min(nextEnvelope, nextClear)
		if begin == len(body) {
			break
		}
		length := bytes.IndexByte(body[begin+1:], '"')
		if length < 0 {
			break
		}
		value := body[begin+1 : begin+1+length]
		at = begin + length + 2
		switch {
		case begin == nextClear:
			found.Clear++
			values.Write(value)
			values.Write([]byte{'\n'})
		case isEnvelope(value):
			found.Envelopes++
		default:
			// Neither: it counts as what it is, other bytes than there should be.
			continue
		}
		outside.Write(body[written:begin])
		written = at
	}
	outside.Write(body[written:])
	found.Outside, found.Values = hex.EncodeToString(outside.Sum(nil)), hex.EncodeToString(values.Sum(nil))
	return found
}

// next is where a mark begins from `at` on, the body's length where none does. `known` is the last answer.
func next(body, mark []byte, at, known int) int {
	if known >= at {
		return known
	}
	if index := bytes.Index(body[at:], mark); index >= 0 {
		return at + index
	}
	return len(body)
}

// isEnvelope says whether nothing but base64url follows the prefix.
func isEnvelope(value []byte) bool {
	rest := value[len(envelope)-1:]
	for _, letter := range rest {
		switch {
		case 'a' <= letter && letter <= 'z', 'A' <= letter && letter <= 'Z', '0' <= letter && letter <= '9':
		case letter == '-', letter == '_':
		default:
			return false
		}
	}
	return len(rest) > 0
}
