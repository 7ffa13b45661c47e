package table

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
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
	for difference, different := range map[string]Work{
		`keys was {"ssn":7} and is {"ssn":8}`: rotated, "table was public.customer and is public.order": other, `is {"from":null,"to":["9"]}`: ranged,
	} {
		if _, err := OpenCheckpoint(path, different); fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), difference) {
			t.Errorf("%s: %v", difference, err)
		}
	}
}

func TestWhatIsNoCheckpointIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "checkpoint")
	for _, text := range []string{"", "{", `{}`, `{"format": "fieldveil table checkpoint 2"}`, strings.Repeat(" ", maxCheckpointBytes+1)} {
		testfile.Write(t, path, text)
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

func TestCheckpointThatWasChangedByHandIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	work := Work{Command: Seal, Table: "t", Key: []string{"id"}, Columns: map[string]uint32{"c": 7}}
	const sound = `{"format": "fieldveil table checkpoint 1", "after": ["3"], "done": false,
	  "work": {"command": "seal", "database": "", "table": "t", "key": ["id"], "columns": {"c": 7}, "range": {"from": null, "to": null}},
	  "report": {"command": "seal", "table": "t", "rows": 3, "columns": [{"column": "c", "found": {"plaintext": 3}}], "problems": null}}`
	for was, is := range map[string]string{
		"": "", `[{"column": "c", "found": {"plaintext": 3}}]`: "[]", `{"plaintext": 3}`: "null", `"plaintext": 3`: `"plaintext": -3`,
		`"rows": 3`: `"rows": -1`, `["3"]`: `["3", "4"]`, `"column": "c"`: `"column": "d"`,
	} {
		testfile.Write(t, path, strings.Replace(sound, was, is, 1))
		checkpoint, err := OpenCheckpoint(path, work)
		if err == nil {
			checkpoint.Close()
		}
		if want := was != ""; (err != nil) != want || want && fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%s: %v", is, err)
		}
	}
}

func TestFinishedCheckpointIsToldAndVerifyBeginsAnew(t *testing.T) {
	for command, rows := range map[Command]int64{Seal: 30, Verify: 31} {
		s := newTableInMemory(30, stored("a.b", 1, 7))
		job := jobOn(s, command)
		var told strings.Builder
		job.Progress.Out = &told
		work := Work{Command: command, Table: job.Table, Key: []string{"id"}, Columns: map[string]uint32{"c": 7}}
		path := filepath.Join(t.TempDir(), "checkpoint")
		for range 2 {
			job.Checkpoint = open(t, path, work)
			report, err := job.Run(t.Context())
			job.Checkpoint.Close()
			if err != nil || report.Rows != int64(len(s.rows)) && report.Rows != rows {
				t.Errorf("%s: %+v, %v", command, report, err)
			}
			s.rows = append(s.rows, Row{Key: Key{"31"}, Version: "0", Values: [][]byte{stored("a.b", 1, 7)}})[:31]
		}
		if strings.Contains(told.String(), "done by an earlier run") != (command == Seal) {
			t.Errorf("%s: %s", command, told.String())
		}
	}
}

func TestReportThatIsGoneOnKnowsColumnsByName(t *testing.T) {
	job := &Job{Command: Seal, Columns: []Column{{Column: catalog.Column{Name: "a"}}, {Column: catalog.Column{Name: "b"}}}}
	earlier := newReport(job)
	earlier.Columns[0].Found["plaintext"] = 3
	job.Columns[0], job.Columns[1] = job.Columns[1], job.Columns[0]
	if report := earlier.goneOn(job); report.Columns[1].Found["plaintext"] != 3 || len(report.Columns[0].Found) != 0 {
		t.Errorf("%+v", report)
	}
}
