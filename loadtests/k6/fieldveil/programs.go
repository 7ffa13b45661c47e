package fieldveil

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/grafana/sobek"

	"github.com/fieldveil/fieldveil/loadtests/k6/database"
)

// Of what a program writes, so much is kept.
const kept = 64 << 10

// session connects, asks for 1, closes, and gives the microseconds that it took.
func (module *module) session(document sobek.Value) (float64, error) {
	work, err := read(document)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := database.Session(module.vu.Context(), work.Driver, work.Mode, work.DSN); err != nil {
		module.throw(fmt.Errorf("session: %w", err))
	}
	return float64(time.Since(began).Nanoseconds()) / 1e3, nil
}

// options of a command.
type options struct {
	// Beside this process's own.
	Env map[string]string
}

// command runs a program to its end. It fails where the program does; what the program said is told without values.
func (module *module) command(argv []string, given *options) (sobek.Value, error) {
	if len(argv) == 0 {
		return nil, errors.New("command: no program named")
	}
	var said, wrong head
	program := exec.CommandContext(module.vu.Context(), argv[0], argv[1:]...)
	program.Stdout, program.Stderr = &said, &wrong
	program.Env = os.Environ()
	if given != nil {
		for name, value := range given.Env {
			program.Env = append(program.Env, name+"="+value)
		}
	}
	began := time.Now()
	err := program.Run()
	seconds := time.Since(began).Seconds()
	if err != nil {
		name := filepath.Base(argv[0])
		module.throw(fmt.Errorf("%s ended with %w: %s", name, err, database.Redact(wrong.String())))
	}
	return module.object(map[string]any{"seconds": seconds, "stdout": said.String()}), nil
}

// head keeps the beginning of what is written to it.
type head struct {
	bytes.Buffer
}

func (head *head) Write(data []byte) (int, error) {
	if room := kept - head.Len(); room > 0 {
		head.Buffer.Write(data[:min(room, len(data))])
	}
	return len(data), nil
}
