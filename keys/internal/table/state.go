package table

import (
	"errors"
	"fmt"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// State is what a stored value is, as its bytes say.
type State int

// The states there are.
const (
	Null State = iota
	Plaintext
	Wanted     // sealed under the wanted key
	OtherKey   // sealed, but under another key
	OtherLabel // sealed under another label
	Broken     // it begins as an envelope and is none, or none of the label's protection
)

// String is the state's name in reports.
func (s State) String() string {
	return [...]string{"null", "plaintext", "wanted_key", "other_key", "other_label", "broken"}[s]
}

// state reads a stored value of the column. The text says more where the name of
// the state does not say all.
func (c *Column) state(stored []byte) (State, string) {
	if stored == nil {
		return Null, ""
	}
	head, err := envelope.ReadHead(stored, c.Raw)
	switch {
	case errors.Is(err, envelope.ErrPlaintext):
		return Plaintext, "it is plaintext"
	case err != nil:
		return Broken, "it is broken: " + err.Error()
	case head.Tag != envelope.TagOf(c.Label):
		return OtherLabel, "it is sealed under another label than " + c.Label
	case head.Indexed != (c.Protection == catalog.Indexed):
		return Broken, "it is sealed in another way than " + string(c.Protection)
	case c.KeyID != 0 && head.KeyID != c.KeyID:
		return OtherKey, fmt.Sprintf("it is sealed under key %d, not %d", head.KeyID, c.KeyID)
	}
	return Wanted, ""
}

// concerns tells whether the command changes a value in this state.
func (c Command) concerns(state State) bool {
	switch c {
	case Seal:
		return state == Plaintext
	case Reseal:
		return state == OtherKey
	case Unseal:
		return state == Wanted || state == OtherKey
	}
	return false
}

// faulty tells whether a value in this state is not as the command shall leave
// it, though it does not change it.
func (c Command) faulty(state State, unsealed bool) bool {
	switch {
	case state == Null:
		return false
	case state == Broken, state == OtherLabel:
		return true
	case c == Verify && unsealed:
		return state != Plaintext
	case c == Verify:
		return state != Wanted
	}
	return c == Reseal && state == Plaintext
}
