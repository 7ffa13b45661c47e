package cli

import (
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
)

var run = commandtest.OfProgram(Run)

func TestCommandThatIsNotThereIsBadInput(t *testing.T) {
	run.WantBadInput(t, "there is no command", "nonsense")
	run.WantBadInput(t, "unknown flag", "--nonsense")
}

func TestVersionIsWhatTheBuildSaid(t *testing.T) {
	before := Version
	defer func() { Version = before }()
	for said, shown := range map[string]string{"1.2.3": "fieldveil 1.2.3\n", "": "fieldveil unreleased\n"} {
		Version = said
		if status, output, errors := run(t, "--version"); status != 0 || output != shown || errors != "" {
			t.Errorf("%q: status %d: %s%s", said, status, output, errors)
		}
	}
}
