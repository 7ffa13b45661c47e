package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// snapshot is one answer: everything open at one time, and of the tenants'
// keysets those that were asked for, as far as there is room. It holds the keysets: it is to be released.
type snapshot struct {
	revision string
	spiffeID string // of the workload; "": not known, or nobody asks
	keysets  map[string]openKeyset
	leftOut  map[string]bool // those that are open, and for which there was no room
}

// A worker refuses a longer answer as a whole (filters/engine/src/keyring.rs).
const (
	maxAnswerBytes = 8 << 20
	maxAnswerNames = 2048
)

// revisionBytes of a SHA-256 are enough to tell any two revisions apart.
const revisionBytes = 16

// snapshot gives an answer, or nil with the reason if there is none to give:
// nothing was open yet, and something is to be.
func (s *state) snapshot(tenants []string) *snapshot {
	s.lock()
	defer s.mutex.Unlock()
	if !s.servable() {
		return nil
	}
	asked := map[string]bool{}
	for _, name := range tenants {
		asked[name] = true
	}
	names := slices.SortedFunc(maps.Keys(s.entries), func(a, b string) int {
		// Tenants last: one of them costs no name for all its place.
		return cmp.Or(cmp.Compare(one(s.entries[a].tenant), one(s.entries[b].tenant)), cmp.Compare(a, b))
	})
	digest := sha256.New()
	v := &snapshot{keysets: map[string]openKeyset{}, leftOut: map[string]bool{}}
	if v.spiffeID, _ = s.identity.current(); v.spiffeID != "" {
		writeFramed(digest, []byte(v.spiffeID))
	}
	length := maxFrameBytes + len(v.spiffeID)
	for _, name := range names {
		e := s.entries[name]
		if e.held == nil || (e.tenant && !asked[name]) {
			continue
		}
		more := e.held.keys.length(name)
		if length+more > maxAnswerBytes {
			v.leftOut[name] = true
			continue
		}
		length += more
		e.held.keys.hold()
		v.keysets[name] = e.held.keys
		writeFramed(digest, []byte(name))
		digest.Write(e.held.source.digest[:])
	}
	v.revision = hex.EncodeToString(digest.Sum(nil)[:revisionBytes])
	return v
}

// maxFrameBytes has room for what is in an answer beside its names.
const maxFrameBytes = 128

// length is what a name takes in an answer, or a little more.
func (k openKeyset) length(name string) int {
	length := len(name) + len(`"":{},`)
	for purpose, opened := range k {
		length += len(purpose) + len(`"":,`) + opened.cleartext.length
	}
	return length
}

// servable is false while a worker is better off with what it may hold than with
// what is open by chance. Later an answer without a keyset says that the keyset
// is to be used no more, and so does one without any.
func (s *state) servable() bool {
	return s.settled && !s.stopped && (s.opened || (s.folder == nil && len(s.entries) == 0))
}

// without are the names that are open and left out.
func (v *snapshot) without() map[string]bool {
	if v == nil {
		return nil
	}
	return v.leftOut
}

func (v *snapshot) release() {
	for _, keys := range v.keysets {
		keys.release()
	}
}

// length is that of what write writes.
func (v *snapshot) length() (bytes int) {
	v.pieces(func(piece []byte) { bytes += len(piece) })
	return bytes
}

// write writes the answer piece by piece, so that no second copy of all keys is
// made.
func (v *snapshot) write(w io.Writer) (err error) {
	v.pieces(func(piece []byte) {
		if err == nil {
			_, err = w.Write(piece)
		}
	})
	return err
}

// pieces are those of {"revision": …, "workload": {"spiffe_id": …}, "keysets": {NAME:
// {PURPOSE: keyset}}}. Names, purposes and ids have no characters that JSON would escape.
func (v *snapshot) pieces(each func([]byte)) {
	text := func(text string) { each([]byte(text)) }
	text(`{"revision":` + strconv.Quote(v.revision))
	if v.spiffeID != "" {
		text(`,"workload":{"spiffe_id":` + strconv.Quote(v.spiffeID) + `}`)
	}
	text(`,"keysets":{`)
	for i, name := range slices.Sorted(maps.Keys(v.keysets)) {
		text(comma(i) + strconv.Quote(name) + `:{`)
		first := 0
		for _, purpose := range keystore.Purposes {
			if opened, there := v.keysets[name][purpose]; there {
				text(comma(first) + strconv.Quote(string(purpose)) + `:`)
				each(opened.cleartext.bytes())
				first++
			}
		}
		text(`}`)
	}
	text(`}}`)
}

func comma(before int) string {
	if before > 0 {
		return ","
	}
	return ""
}
