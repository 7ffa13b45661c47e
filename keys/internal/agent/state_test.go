package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// clocked is a state with one open keyset, and a clock that is set by hand.
type clocked struct {
	*state
	clock time.Time
}

func newClocked(t *testing.T, names ...string) *clocked {
	t.Helper()
	config := Defaults()
	c := &clocked{clock: time.Unix(1_000_000, 0)}
	c.state = newState(&config, func() time.Time { return c.clock })
	c.applyScan(c.folder(names...), nil, nil)
	for range names {
		c.answer(t, answered, nil)
	}
	return c
}

func (c *clocked) folder(names ...string) map[string]scannedName {
	all := map[string]scannedName{}
	for _, name := range names {
		all[name] = scannedName{[]keystore.Purpose{keystore.AEAD}, &wrapped{digest: digest{byte(len(name))}}, nil}
	}
	return all
}

// answer answers the next question to the KMS, which must be there.
func (c *clocked) answer(t *testing.T, o outcome, err error) {
	t.Helper()
	j, wait, ok := c.next()
	if !ok {
		t.Fatalf("nothing is asked for %v", wait)
	}
	var opened openKeyset
	if err == nil {
		s, failed := newSecret([]byte(`"key-bytes"`))
		if failed != nil {
			t.Fatal(failed)
		}
		opened = openKeyset{keystore.AEAD: {cleartext: s, primaryKeyID: 1, keyIDs: []uint32{1}}}
	}
	c.apply(j, opened, o, err)
}

func (c *clocked) open() (names string) {
	v := c.snapshot(nil)
	if v == nil {
		return "nothing to answer"
	}
	defer v.release()
	for name := range v.keysets {
		names += name
	}
	return names
}

func TestKeysetEndsExactlyAtMaxOfflineThoughNobodyLooks(t *testing.T) {
	c := newClocked(t, "pii")
	c.clock = c.clock.Add(24*time.Hour - 1)
	if c.open() != "pii" {
		t.Error("dropped before its time")
	}
	c.clock = c.clock.Add(1)
	if c.open() != "" || c.entries["pii"].held != nil {
		t.Error("still held")
	}
}

func TestRefusalEndsServingAtItsOwnLimitAndNeverLater(t *testing.T) {
	c := newClocked(t, "pii")
	c.clock = c.clock.Add(11 * time.Minute)
	c.answer(t, refused, errDenied)
	// That the KMS is away now and then does not put the end off.
	c.clock = c.clock.Add(2 * time.Minute)
	c.answer(t, unavailable, errAway)
	c.clock = c.clock.Add(3*time.Minute - 1)
	if c.open() != "pii" {
		t.Error("dropped before its time")
	}
	c.clock = c.clock.Add(1)
	if c.open() != "" {
		t.Error("still served")
	}
}

func TestConfirmedKeysetLivesOnWithoutABreak(t *testing.T) {
	c := newClocked(t, "pii")
	since := c.clock
	for range 1000 {
		c.clock = c.clock.Add(11 * time.Minute)
		c.answer(t, answered, nil)
	}
	k := c.report().keysets[0]
	if !k.open || !k.openSince.Equal(since) || !k.lastOpened.Equal(c.clock) {
		t.Errorf("open since %v, last opened %v", k.openSince, k.lastOpened)
	}
}

func TestNothingIsAskedBeforeItIsDue(t *testing.T) {
	c := newClocked(t, "pii", "other")
	if _, wait, ok := c.next(); ok || wait < 9*time.Minute || wait > 11*time.Minute {
		t.Errorf("asked %v, or in %v", ok, wait)
	}
	c.clock = c.clock.Add(11 * time.Minute)
	c.answer(t, unavailable, errAway)
	if _, wait, ok := c.next(); ok || wait > firstRetry {
		t.Errorf("asked %v, or in %v: after one keyset's failure the other waits, too", ok, wait)
	}
}

func TestChangedFilesAreOpenedBeforeOpenOnesAreConfirmed(t *testing.T) {
	c := newClocked(t, "pii")
	c.clock = c.clock.Add(11 * time.Minute)
	c.applyScan(c.folder("pii", "new"), nil, nil)
	if j, _, ok := c.next(); !ok || j.entry.name != "new" {
		t.Errorf("%v is asked for first", j.entry)
	}
}

func TestLookThatDoesNotEndIsTold(t *testing.T) {
	c := newClocked(t, "pii")
	var log lockedBuffer
	l := &folderScanner{state: c.state, changes: &changeLogger{state: c.state, logger: slog.New(slog.NewJSONHandler(&log, nil)), problems: map[string]string{}}}
	c.beginScan()
	c.clock = c.clock.Add(scanPatience - 1)
	if problems := c.report().problems(); len(problems) != 0 {
		t.Errorf("%v before its time", problems)
	}
	c.clock = c.clock.Add(1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	l.watch(ctx, time.Millisecond, func() { select {} })
	if text := log.String(); !strings.Contains(text, "a look at it does not end") || !strings.Contains(text, `"of":"the folder"`) {
		t.Errorf("the log: %s", text)
	}
	if r := c.report(); r.folder == nil || r.now.Sub(r.scannedAt) != scanPatience {
		t.Errorf("folder %v, looked at %v ago", r.folder, r.now.Sub(r.scannedAt))
	}
	c.applyScan(c.folder("pii"), nil, nil)
	if r := c.report(); r.folder != nil || !r.scannedAt.Equal(c.clock) {
		t.Errorf("after a look: folder %v", r.folder)
	}
}

func TestPrintedStateShowsNoKeyMaterial(t *testing.T) {
	c := newClocked(t, "pii")
	held := c.entries["pii"].held
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{held, held.keys, held.keys[keystore.AEAD], held.keys[keystore.AEAD].cleartext, *c.entries["pii"]} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, "key-bytes") || strings.Contains(text, "107 101 121") {
				t.Errorf("%s: %s", format, text)
			}
		}
	}
}
