package table

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// tableInMemory is a Server of rows with the keys 1, 2, …; what is sealed holds an envelope's head.
type tableInMemory struct {
	Server
	rows    []Row
	version int
	writes  []int // rows of each transaction
	// written is called with every row that has been written, before it can be read back.
	written func(row *Row)
	held    map[string]bool
	read    func(page []Row)
	// get and write are called before rows are read again, and before they are written.
	get, write func()
	// least is how many rows a constraint holds together.
	least int
}

func newTableInMemory(count int, value []byte) *tableInMemory {
	s := &tableInMemory{written: func(*Row) {}, held: map[string]bool{}, read: func([]Row) {}, get: func() {}, write: func() {}}
	for i := range count {
		s.rows = append(s.rows, Row{Key: Key{strconv.Itoa(i + 1)}, Version: "0", Values: [][]byte{value}})
	}
	return s
}

func (s *tableInMemory) Estimate(context.Context, Range) (int64, error) {
	return int64(len(s.rows)), nil
}
func (s *tableInMemory) Reset() {}

func (s *tableInMemory) Read(_ context.Context, part Range, limit int) ([]Row, error) {
	from := 0
	if part.From != nil {
		from, _ = strconv.Atoi(part.From[0])
	}
	page := append([]Row{}, s.rows[from:min(from+limit, len(s.rows))]...)
	s.read(page)
	return page, nil
}

func (s *tableInMemory) Get(_ context.Context, keys []Key) ([]Row, error) {
	s.get()
	var found []Row
	for _, key := range keys {
		n, _ := strconv.Atoi(key[0])
		found = append(found, s.rows[n-1])
	}
	return found, nil
}

func (s *tableInMemory) Write(_ context.Context, command Command, changes []Change) ([]string, error) {
	s.write()
	if len(changes) < s.least {
		return nil, &RowError{"the constraint forbids it"}
	}
	s.version++
	s.writes = append(s.writes, len(changes))
	versions := make([]string, len(changes))
	for i, change := range changes {
		n, _ := strconv.Atoi(change.Key[0])
		row := &s.rows[n-1]
		if s.held[change.Key[0]] || row.Version != change.Version {
			continue
		}
		value := []byte("plain")
		if command != Unseal {
			value = stored("a.b", 1, 7)
		}
		*row = Row{Key: row.Key, Version: strconv.Itoa(s.version), Values: [][]byte{value}}
		versions[i] = strconv.Itoa(s.version)
		s.written(row)
	}
	return versions, nil
}

func jobOn(s *tableInMemory, command Command) *Job {
	column := Column{Column: catalog.Column{Name: "c", Label: "a.b", Storage: catalog.Storage{Protection: catalog.Randomized}}, Raw: true, KeyID: 7}
	return &Job{Command: command, Table: "t", Columns: []Column{column}, Server: s, Batch: 10, Progress: &Progress{Out: io.Discard, Every: time.Hour}}
}

func TestFirstRowIsDoneAloneAndWhatSpoilsEnvelopesEndsTheWork(t *testing.T) {
	for name, spoilt := range map[string][]byte{
		"broken": []byte{0xF7, 9}, "NULL": nil, "another label": stored("a.c", 1, 7), "still plaintext": []byte("lowered"),
	} {
		s := newTableInMemory(30, []byte("plain"))
		s.written = func(row *Row) { row.Values = [][]byte{spoilt} }
		_, err := jobOn(s, Seal).Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), name) || len(s.writes) != 1 || s.writes[0] != 1 {
			t.Errorf("%s: %v after %v", name, err, s.writes)
		}
		s = newTableInMemory(30, []byte("plain"))
		s.written = func(row *Row) {
			if row.Key[0] == "15" {
				row.Values = [][]byte{spoilt}
			}
		}
		_, err = jobOn(s, Seal).Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), name) || len(s.writes) != 3 {
			t.Errorf("%s: %v after %v", name, err, s.writes)
		}
	}
}

func TestRowThatAnotherWritesAfterItWasUnsealedIsTheirs(t *testing.T) {
	s := newTableInMemory(30, stored("a.b", 1, 7))
	s.written = func(row *Row) { row.Version, row.Values = "theirs", [][]byte{stored("a.b", 1, 7)} }
	report, err := jobOn(s, Unseal).Run(context.Background())
	if err != nil || report.Written != 30 || report.Faulty != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestKeyThatDoesNotAdvanceEndsTheWork(t *testing.T) {
	s := newTableInMemory(30, []byte("plain"))
	s.read = func(page []Row) { page[len(page)-1].Key = Key{"10"} }
	report, err := jobOn(s, Verify).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), `the key ["10"]`) || report.Rows != 10 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRowsThatResistAreToldAndTheRestIsDone(t *testing.T) {
	s := newTableInMemory(30, []byte("plain"))
	s.held["1"], s.held["15"] = true, true
	job := jobOn(s, Seal)
	job.RetryFor = 50 * time.Millisecond
	report, err := job.Run(context.Background())
	if err != nil || report.Written != 28 || report.Faulty != 2 || report.Problems[1].Key[0] != "15" {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRowThatIsWrittenAllTheTimeIsReadAgainRightBeforeItIsWritten(t *testing.T) {
	s := newTableInMemory(1, []byte("plain"))
	// Another writes the row a moment after each time that it was read, but for no sooner.
	read := time.Now()
	s.get = func() {
		if row := &s.rows[0]; time.Since(read) > 2*time.Millisecond && row.Values[0][0] == 'p' {
			row.Version += "'"
		}
		read = time.Now()
	}
	s.read = func([]Row) { s.rows[0].Version = "1" }
	s.write = s.get
	job := jobOn(s, Seal)
	job.RetryFor = 5 * time.Second
	report, err := job.Run(context.Background())
	if err != nil || report.Written != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestFirstRowIsDoneWithTheOthersWhereItIsRefusedAlone(t *testing.T) {
	s := newTableInMemory(30, []byte("plain"))
	s.least = 10
	report, err := jobOn(s, Seal).Run(context.Background())
	if err != nil || report.Written != 30 || report.Faulty != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	s.least = 11
	s.rows = newTableInMemory(30, []byte("plain")).rows
	if report, err = jobOn(s, Seal).Run(context.Background()); err != nil || report.Written != 0 || report.Faulty != 30 {
		t.Errorf("%+v, %v", report, err)
	}
}
