package redirect

import (
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

func TestPortIsReadAsItIsWritten(t *testing.T) {
	for _, text := range []string{"5432:15432", "1:65535", "80:80"} {
		if port, err := ParsePort(text); err != nil || port.String() != text {
			t.Errorf("%s: %v, %v", text, port, err)
		}
	}
	for _, text := range []string{"", "5432", ":", "5432:", ":15432", "0:1", "1:0", "65536:1", "1:65536", "1:2:3", "db:1", "-1:2", " 1:2", "+1:2"} {
		if port, err := ParsePort(text); err == nil || fault.ExitStatus(err) != fault.ExitBadInput {
			t.Errorf("%q is %v (%v)", text, port, err)
		}
	}
}

func TestRulesThatCouldNotWorkAreRefused(t *testing.T) {
	for reason, rules := range map[string]Rules{
		"--to: not given":         {ExceptUIDs: []uint32{1}},
		"--except-uid: not given": {Ports: []Port{{1, 2}}},
		"redirected twice":        {Ports: []Port{{1, 2}, {3, 4}, {1, 5}}, ExceptUIDs: []uint32{1}},
		"more than":               {Ports: make([]Port, maxPorts+1), ExceptUIDs: []uint32{1}},
	} {
		for _, act := range []func() error{rules.Apply, rules.Verify} {
			if err := act(); fault.ExitStatus(err) != fault.ExitBadInput || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	}
}
