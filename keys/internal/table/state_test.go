package table

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/envelope"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// stored is an envelope's head and as much after it as every envelope has.
func stored(label string, version byte, keyID byte) []byte {
	tag := envelope.TagOf(label)
	out := append([]byte{0xF7, version}, tag[:]...)
	if version == 2 {
		out = append(out, make([]byte, 16)...)
	}
	return append(append(out, 1, 0, 0, 0, keyID), make([]byte, 28)...)
}

func TestStateOfStoredValues(t *testing.T) {
	column := Column{Column: catalog.Column{Label: "a.b", Storage: catalog.Storage{Protection: catalog.Randomized}}, KeyID: 7}
	raw := column
	raw.Raw = true
	armored := func(raw []byte) []byte { return []byte("fv1." + base64.RawURLEncoding.EncodeToString(raw)) }
	for name, c := range map[string]struct {
		value []byte
		want  State
	}{
		"null": {nil, Null}, "empty": {[]byte{}, Plaintext}, "plaintext": {[]byte("x"), Plaintext},
		"wanted": {stored("a.b", 1, 7), Wanted}, "other key": {stored("a.b", 1, 8), OtherKey},
		"other label": {stored("a.c", 1, 7), OtherLabel}, "indexed": {stored("a.b", 2, 7), Broken},
		"truncated": {stored("a.b", 1, 7)[:20], Broken}, "version": {stored("a.b", 3, 7), Broken},
	} {
		if state, _ := raw.state(c.value); state != c.want {
			t.Errorf("raw %s: %s", name, state)
		}
		text := c.value
		if bytes.HasPrefix(text, []byte{0xF7}) {
			text = armored(text)
		}
		if state, _ := column.state(text); state != c.want {
			t.Errorf("armored %s: %s", name, state)
		}
	}
	any := column
	any.KeyID = 0
	if state, _ := any.state(armored(stored("a.b", 1, 8))); state != Wanted {
		t.Errorf("any key: %s", state)
	}
	if state, reason := column.state([]byte("fv1.no base64")); state != Broken || strings.Contains(reason, "no base64") {
		t.Errorf("%s: %s", state, reason)
	}
}

func TestReportNamesTwentyRowsAndCountsAll(t *testing.T) {
	job := &Job{Command: Verify, Columns: []Column{{Column: catalog.Column{Name: "a"}}, {Column: catalog.Column{Name: "b"}}}}
	report := newReport(job)
	for i := range 30 {
		row := Row{Key: Key{strconv.Itoa(i)}, Values: [][]byte{[]byte("secret"), []byte("secret")}}
		if changes := report.see(job, []Row{row}); len(changes) != 0 {
			t.Fatal("verify changes nothing")
		}
	}
	if report.Faulty != 60 || len(report.Problems) != maxProblems || strings.Join(report.Problems[0].Columns, " ") != "a b" {
		t.Errorf("%+v", report)
	}
	if copied := report.clone(); copied.Columns[0].Found["plaintext"] != 30 {
		t.Error(copied)
	} else if copied.Columns[0].Found["plaintext"]++; report.Columns[0].Found["plaintext"] != 30 {
		t.Error("a copy shares its counts")
	}
}

func TestProgressOfAnEstimateThatIsTooLowStaysBelowTheEnd(t *testing.T) {
	var out bytes.Buffer
	progress := &Progress{Out: &out}
	progress.begin(0, 10)
	progress.show(&Report{Command: Seal, Table: "t", Rows: 1000})
	if !strings.Contains(out.String(), "1000 of about 1001 rows (99%)") {
		t.Error(out.String())
	}
}
