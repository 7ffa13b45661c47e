package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// The timer's opening may hang in a KMS: staleness must not wait for it.
func TestKeysetGoesStaleWithoutAnyRefresh(t *testing.T) {
	now := time.Unix(0, 0)
	s := newState(time.Minute, func() time.Time { return now })
	s.apply(opened("pii"))
	now = now.Add(time.Minute - 1)
	if len(s.view().keysets) != 1 {
		t.Error("dropped before its time")
	}
	now = now.Add(1)
	if len(s.view().keysets) != 0 || len(s.held) != 0 {
		t.Error("still held")
	}
}

func TestEachKeysetGoesStaleByItself(t *testing.T) {
	now := time.Unix(0, 0)
	s := newState(time.Minute, func() time.Time { return now })
	s.apply(opened("pii", "payments"))
	first := s.view().revision
	now = now.Add(30 * time.Second)
	half := opened("pii")
	half.problems["payments"] = errors.New("broken")
	s.apply(half)
	if s.view().revision != first {
		t.Error("another revision of the same keysets")
	}
	now = now.Add(31 * time.Second)
	v := s.view()
	if len(v.keysets) != 1 || v.keysets["pii"] == nil || v.revision == first {
		t.Errorf("held: %v", v.keysets)
	}
	if since := v.keysets["pii"].openSince; !since.Equal(time.Unix(0, 0)) {
		t.Errorf("open since %v", since)
	}
}

func TestFolderThatCanNotBeReadDropsNothingAtOnce(t *testing.T) {
	now := time.Unix(0, 0)
	s := newState(time.Minute, func() time.Time { return now })
	s.apply(opened("pii"))
	s.apply(&opening{folder: errors.New("gone")})
	if len(s.view().keysets) != 1 {
		t.Error("dropped at once")
	}
	if text := describe(s.reasons()); text != "gone" {
		t.Errorf("reasons: %s", text)
	}
}

func TestPrintedKeysetsShowNoKeyMaterial(t *testing.T) {
	k := &heldKeyset{openKeyset: opened("pii").opened["pii"]}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{k, k.openKeyset, map[string]*openKeyset{"pii": k.openKeyset}} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "key-bytes") || strings.Contains(text, "107 101 121") {
				t.Errorf("%s: %s", format, text)
			}
		}
	}
}

func opened(names ...string) *opening {
	result := &opening{opened: map[string]*openKeyset{}, problems: map[string]error{}}
	for _, name := range names {
		result.opened[name] = &openKeyset{
			digest:   [32]byte{1},
			purposes: map[keystore.Purpose]openPurpose{keystore.AEAD: {cleartext: []byte(`"key-bytes"`)}},
		}
	}
	return result
}
