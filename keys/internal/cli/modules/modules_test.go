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
		run.WantBadInput(t, reason, strings.Fields("modules "+words)...)
	}
}
