package redirect

import (
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
)

var run = commandtest.Of(New)

func TestRedirectFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	for reason, words := range map[string]string{
		"--to: not given":         "--except-uid 10101",
		"--except-uid: not given": "--to 5432:15432",
		"not PORT:LISTENER_PORT":  "--to 5432 --except-uid 10101",
		"redirected twice":        "--to 5432:15432 --to 5432:15433 --except-uid 10101",
		"no user has this id":     "--to 5432:15432 --except-uid 4294967295",
		"invalid argument":        "--to 5432:15432 --except-uid sidecar",
		"too many arguments":      "--to 5432:15432 --except-uid 10101 more",
	} {
		for _, check := range []string{"", " --check"} {
			run.WantBadInput(t, reason, strings.Fields("redirect "+words+check)...)
		}
	}
}
