package table

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/strictjson"
)

// checkpointEvery spares the disk: rows that were done after the last checkpoint
// are read again and found done.
const checkpointEvery = 250 * time.Millisecond

const checkpointFormat = "fieldveil table checkpoint 1"

// maxCheckpointBytes is a hundred times what names and keys take.
const maxCheckpointBytes = 1 << 20

// Work is what a checkpoint is of. A checkpoint of other work is refused.
type Work struct {
	Command  Command           `json:"command"`
	Database string            `json:"database"`
	Table    string            `json:"table"`
	Key      []string          `json:"key"`     // columns of the primary key
	Columns  map[string]uint32 `json:"columns"` // the wanted key of each
	Range    Range             `json:"range"`
}

// Checkpoint is how far some work has come, in a file.
type Checkpoint struct {
	path  string
	lock  *os.File
	state checkpointState
}

type checkpointState struct {
	Format string  `json:"format"`
	Work   Work    `json:"work"`
	After  Key     `json:"after"` // all rows up to and with this key are done
	Done   bool    `json:"done"`
	Report *Report `json:"report"`
}

// OpenCheckpoint takes a checkpoint's file for this process alone, and reads it if
// it is there.
func OpenCheckpoint(path string, work Work) (*Checkpoint, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Input("--checkpoint "+path, fault.Cause(err), "name a file in a folder that can be written")
	}
	c := &Checkpoint{path: path, lock: lock, state: checkpointState{Format: checkpointFormat, Work: work}}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fault.Input("--checkpoint "+path, "another process works with it", "give every worker a checkpoint of its own")
	}
	if err := c.read(work); err != nil {
		lock.Close()
		return nil, err
	}
	return c, nil
}

func (c *Checkpoint) read(work Work) error {
	const remedy = "name another file, or remove this one to begin anew"
	info, err := os.Stat(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Unreadable("--checkpoint "+c.path, err)
	}
	if info.Size() > maxCheckpointBytes {
		return fault.Input("--checkpoint "+c.path, "not a checkpoint", remedy)
	}
	text, err := os.ReadFile(c.path)
	if err != nil {
		return fault.Unreadable("--checkpoint "+c.path, err)
	}
	var state checkpointState
	if err := strictjson.Decode(text, &state); err != nil || state.Format != checkpointFormat || !state.sound() {
		return fault.Input("--checkpoint "+c.path, "not a checkpoint", remedy)
	}
	if difference := state.Work.difference(work); difference != "" {
		return fault.Input("--checkpoint "+c.path, "it is of other work: "+difference, remedy)
	}
	c.state = state
	return nil
}

// sound tells whether all is there that the work goes on from.
func (s *checkpointState) sound() bool {
	if s.Report == nil || s.After != nil && len(s.After) != len(s.Work.Key) ||
		min(s.Report.Rows, s.Report.Written, s.Report.Faulty) < 0 || s.Report.Seconds < 0 {
		return false
	}
	for column := range s.Work.Columns {
		found := s.Report.found(column)
		if found == nil {
			return false
		}
		for _, count := range found {
			if count < 0 {
				return false
			}
		}
	}
	return true
}

// After is the key after which the work goes on; nil for none.
func (c *Checkpoint) After() Key {
	if c.state.Done {
		return nil
	}
	return c.state.After
}

// difference says in what other work differs; "" if it is the same.
func (w Work) difference(other Work) string {
	for _, part := range []struct {
		name     string
		was, now any
	}{
		{"command", w.Command, other.Command}, {"database", w.Database, other.Database}, {"table", w.Table, other.Table},
		{"primary key", w.Key, other.Key}, {"columns and their keys", w.Columns, other.Columns},
		{"range", w.Range, other.Range},
	} {
		if !reflect.DeepEqual(part.was, part.now) {
			return part.name + " was " + shown(part.was) + " and is " + shown(part.now)
		}
	}
	return ""
}

// shown is a part of work as the checkpoint has it; names and keys alone.
func shown(part any) string {
	text, err := json.Marshal(part)
	if err != nil {
		return "?"
	}
	return strings.Trim(string(text), `"`)
}

// save notes how far the work has come.
func (c *Checkpoint) save(after Key, done bool, report *Report) error {
	c.state.After, c.state.Done, c.state.Report = after, done, report
	text, err := json.MarshalIndent(c.state, "", "  ")
	if err == nil {
		err = atomicfile.Replace(c.path, append(text, '\n'))
	}
	if err != nil {
		return fault.Failure("--checkpoint "+c.path, fault.Cause(err), "make room or the folder writable, and run the same command again")
	}
	return nil
}

// Close lets other processes have the file. Its lock stays beside it: were it
// removed, two processes could hold one each.
func (c *Checkpoint) Close() { c.lock.Close() }
