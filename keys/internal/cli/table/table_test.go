package table

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command/commandtest"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var run = commandtest.Of(New)

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

func TestRangesOfAFileAreReadAsTheyAreWrittenAndNoOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ranges.json")
	written, err := json.Marshal(rangeList{[]table.Range{{To: table.Key{"5"}}, {From: table.Key{"5"}, To: table.Key{"9"}}, {From: table.Key{"9"}}}})
	if err != nil {
		t.Fatal(err)
	}
	const whole = `{"ranges":[{"from":null,"to":null}]}`
	for _, one := range []struct{ text, words, reason string }{
		{string(written), "--ranges FILE --range-index 3", "holds 3 ranges, from number 0"},
		{whole, "--ranges FILE --range-index 1", "holds 1 range, from number 0"},
		{whole, "--ranges FILE", "--range-index: not given"},
		{whole, "--range-index 0", "there is no --ranges"},
		{whole, "--ranges FILE --range-index -1", "not a number from 0 on"},
		{whole, "--ranges FILE --range-index $(JOB_COMPLETION_INDEX)", "completionMode: Indexed"},
		{whole, "--ranges FILE --range-index 0 --to 9", "give the one or the other"},
		{whole, "--ranges FILE.none --range-index 0", "there is no such file"},
		{"", "--ranges FILE --range-index 0", "not a list of ranges"},
		{`{"ranges":[]}`, "--ranges FILE --range-index 0", "not a list of ranges"},
		{`{"ranges":[{"from":null,"to":null,"for":1}]}`, "--ranges FILE --range-index 0", "not a list of ranges"},
		{`{"ranges":[{"from":["1"],"to":null}]}`, "--ranges FILE --range-index 0", "range 0 does not go on"},
		{`{"ranges":[{"from":null,"to":["1"]}]}`, "--ranges FILE --range-index 0", "range 0 does not go on"},
		{`{"ranges":[{"from":null,"to":["1"]},{"from":["2"],"to":null}]}`, "--ranges FILE --range-index 0", "range 1 does not go on"},
		{`{"ranges":[{"from":null,"to":null},{"from":null,"to":null}]}`, "--ranges FILE --range-index 0", "range 0 does not go on"},
		{`{"ranges":[{"from":null,"to":[]},{"from":["2"],"to":null}]}`, "--ranges FILE --range-index 0", "range 1 does not go on"},
	} {
		testfile.Write(t, file, one.text)
		run.WantBadInput(t, one.reason, strings.Fields("table verify --table a.b --direct host=/nowhere "+strings.ReplaceAll(one.words, "FILE", file))...)
	}
	testfile.Write(t, file, written)
	f := rangeFlags{file: file, index: "1"}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	if part, err := f.of([]string{"id"}); err != nil || rangeArguments(part) != `--from '["5"]' --to '["9"]'` {
		t.Error(part, err)
	}
	if _, err := f.of([]string{"tenant", "id"}); err == nil || !strings.Contains(err.Error(), "the primary key is tenant, id") {
		t.Error(err)
	}
}

// A Job has both from a Secret, with a password each.
func TestPasswordsInURLsOfTheEnvironmentAreNeverShown(t *testing.T) {
	t.Setenv("FIELDVEIL_DIRECT_URL", "postgres://owner:secret@/shop?host=/nowhere")
	t.Setenv("FIELDVEIL_THROUGH_URL", "postgres://app:secret@[::1")
	for reason, words := range map[string]string{
		"nobody answers there":    "verify --table a.b",
		"not a connection string": "seal --table a.b",
		"--from":                  "seal --help",
	} {
		_, output, errors := run(t, append([]string{"table"}, strings.Fields(words)...)...)
		if !strings.Contains(output+errors, reason) || strings.Contains(output+errors, "secret") {
			t.Errorf("%s: %s%s", words, output, errors)
		}
	}
}
