package modules

import (
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
)

var run = commandtest.Of(New)

func TestModulesCopySaysWhatIsMissing(t *testing.T) {
	for reason, words := range map[string]string{
		"DIR is missing":              "copy",
		"there is no list of modules": "copy --from /nowhere /tmp",
		"there is no command":         "paste",
	} {
		status, output, errors := run(t, append([]string{"modules"}, strings.Fields(words)...)...)
		if status != 2 || output != "" || !strings.Contains(errors, reason) || strings.Count(errors, "\n") != 1 {
			t.Errorf("%s: status %d: %s%s", words, status, output, errors)
		}
	}
}
