package cli

import (
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/table"
)

func TestKeysOfRangesAreReadAsTheyAreWritten(t *testing.T) {
	for _, key := range []table.Key{{"7"}, {`["x"]`}, {"it's", `a "b"`}, {"", "1"}} {
		names := make([]string, len(key))
		read, err := parseKey("--from", key.String(), names)
		if err != nil || read.String() != key.String() {
			t.Errorf("%s: %s, %v", key, read, err)
		}
	}
	if read, err := parseKey("--from", "7", []string{"id"}); err != nil || read.String() != `["7"]` {
		t.Error(read, err)
	}
	for _, text := range []string{"7", `["7"]`, `[7, "x"]`, `["1","2","3"]`, "{}"} {
		if read, err := parseKey("--from", text, []string{"a", "b"}); err == nil {
			t.Errorf("%s is %s", text, read)
		}
	}
	if words := rangeArguments(table.Range{To: table.Key{"it's"}}); words != `--to '["it'\''s"]'` {
		t.Error(words)
	}
}

func TestTableFlagsThatMakeNoSenseAreRefusedBeforeAnyConnection(t *testing.T) {
	for reason, words := range map[string]string{
		"--table: not given":           "seal",
		"not the name of a table":      "seal --table customer",
		"--direct: not given":          "verify --table a.b",
		"--through: not given":         "seal --table a.b --direct " + "host=/nowhere",
		"not a connection string":      "verify --table a.b --direct postgres://u:secret@[::1",
		"not between 1 and 10000":      "seal --table a.b --batch 0",
		"no such form":                 "seal --table a.b --output xml",
		"--max-lag: less than nothing": "seal --table a.b --max-lag -1s",
		"--retry-for: less than":       "seal --table a.b --retry-for -1s",
		"could be gone on from":        "seal --table a.b --dry-run --checkpoint x",
		"--count":                      "ranges --table a.b --count 0",
		"there is no command":          "mend",
		"unknown flag: --dry-run":      "verify --dry-run",
		"unknown flag: --max-lag":      "verify --max-lag 1s",
		"unknown flag: --keysets":      "unseal --keysets x",
		"unknown flag: --unsealed":     "seal --unsealed",
		"nobody answers there, or not as PostgreSQL does (no such file": "verify --table a.b --direct host=/nowhere",
	} {
		status, output, errors := run(t, append([]string{"table"}, strings.Fields(words)...)...)
		want := 2
		if strings.HasPrefix(reason, "nobody") {
			want = 1
		}
		if status != want || output != "" || !strings.Contains(errors, reason) || strings.Count(errors, "\n") != 1 || strings.Contains(errors, "secret") {
			t.Errorf("%s: status %d: %s%s", words, status, output, errors)
		}
	}
}
