package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestCheckpointIsReadAgainAndOnlyForTheSameWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	work := Work{Command: Seal, Database: "shop", Table: "public.customer", Key: []string{"id"}, Columns: map[string]uint32{"ssn": 7}}
	first := open(t, path, work)
	report := &Report{Command: Seal, Rows: 3, Columns: []ColumnReport{{Column: "ssn", Found: map[string]int64{"plaintext": 3}}}}
	if err := first.save(Key{"3"}, false, report); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCheckpoint(path, work); fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), "another process") {
		t.Errorf("two processes hold one checkpoint: %v", err)
	}
	first.Close()
	again := open(t, path, work)
	if again.state.After.String() != `["3"]` || again.state.Report.Rows != 3 || again.state.Report.Columns[0].Found["plaintext"] != 3 {
		t.Errorf("%+v", again.state)
	}
	again.Close()
	rotated, other, ranged := work, work, work
	rotated.Columns = map[string]uint32{"ssn": 8}
	other.Table = "public.order"
	ranged.Range = Range{To: Key{"9"}}
	for _, different := range []Work{rotated, other, ranged} {
		if _, err := OpenCheckpoint(path, different); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%+v: %v", different, err)
		}
	}
}

func TestWhatIsNoCheckpointIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "checkpoint")
	for _, text := range []string{"", "{", `{}`, `{"format": "fieldveil table checkpoint 2"}`, strings.Repeat(" ", maxCheckpointBytes+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCheckpoint(path, Work{}); fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := OpenCheckpoint(filepath.Join(folder, "none", "checkpoint"), Work{}); fault.ExitStatus(err) != fault.ExitBadInput {
		t.Error(err)
	}
}

func open(t *testing.T, path string, work Work) *Checkpoint {
	t.Helper()
	checkpoint, err := OpenCheckpoint(path, work)
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint
}
