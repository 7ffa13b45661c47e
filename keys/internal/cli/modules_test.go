package cli

import (
	"strings"
	"testing"
)

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
