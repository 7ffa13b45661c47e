package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// grow makes the open keyset of a name so long.
func (c *clocked) grow(t *testing.T, name string, length int) {
	t.Helper()
	grown, err := newSecret(bytes.Repeat([]byte(" "), length))
	if err != nil {
		t.Fatal(err)
	}
	e := c.entries[name]
	e.held.keys.release()
	e.held.keys = openKeyset{keystore.AEAD: {cleartext: grown}}
}

func TestAnswerIsNoLongerThanAWorkerReads(t *testing.T) {
	c := newClocked(t, "pii")
	defer c.stop()
	tenants := []string{"pii/a", "pii/bb", "pii/ccc"}
	purposes := map[string][]keystore.Purpose{}
	for _, name := range tenants {
		purposes[name] = []keystore.Purpose{keystore.AEAD}
	}
	c.applyScan(c.folder("pii"), purposes, nil)
	for name, f := range c.folder(tenants...) {
		c.admit(name, f)
		c.answer(t, answered, nil)
	}
	for _, name := range []string{"pii", "pii/a", "pii/bb"} {
		c.grow(t, name, 3<<20)
	}
	v := c.snapshot(tenants)
	defer v.release()
	if v.length() > maxAnswerBytes || v.keysets["pii"] == nil || v.keysets["pii/a"] == nil || v.keysets["pii/ccc"] == nil {
		t.Errorf("%d names in %d bytes", len(v.keysets), v.length())
	}
	if counts := c.outcomes(tenants, v.without()); counts[tenantNoRoom] != 1 || counts[tenantOpen] != 2 {
		t.Errorf("counted %v", counts)
	}
	if r := c.report(); !r.ready || len(r.problems()) != 0 {
		t.Errorf("tenants without room make the agent unready: %v", r.problems())
	}
}

func TestNameForAllWithoutRoomIsToldAndTheAgentUnready(t *testing.T) {
	c := newClocked(t, "a", "pii")
	defer c.stop()
	c.grow(t, "a", maxAnswerBytes-maxFrameBytes-100)
	c.grow(t, "pii", 100)
	v := c.snapshot(nil)
	defer v.release()
	if len(v.keysets) != 1 || v.length() > maxAnswerBytes {
		t.Errorf("%d names in %d bytes", len(v.keysets), v.length())
	}
	r := c.report()
	if r.ready || !strings.Contains(r.unready(), "longer than one answer") || r.consequence(placeAnswer) != "not served: pii" {
		t.Errorf("ready %v: %s", r.ready, r.unready())
	}
}
