package explain

import (
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

// The rows of docs/reference/masks.md are what the filter makes of values: mask, type, value, shown.
func documentedMasks(t *testing.T) [][]string {
	t.Helper()
	text := testfile.Read(t, "../../../../docs/reference/masks.md")
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| `"), "` |"), "` | `")
		if len(cells) == 4 {
			rows = append(rows, cells)
		}
	}
	return rows
}

func TestExamplesOfMasksAreWhatTheFilterMakes(t *testing.T) {
	rows := documentedMasks(t)
	if len(masks().Masks) == 0 {
		t.Error("no mask is described")
	}
	for mask, described := range masks().Masks {
		sample := described.Example
		found := false
		for _, row := range rows {
			found = found || row[0] == sample.Format && row[2] == sample.Value && row[3] == sample.Shown
		}
		if !found {
			t.Errorf("docs/reference/masks.md has no row of %s that makes %s of %s", sample.Format, sample.Shown, sample.Value)
		}
		if _, _, known := Example(sample.Format); !known || !strings.HasPrefix(sample.Format, mask) {
			t.Errorf("%s has no example of its own", mask)
		}
	}
	partials := 0
	for _, row := range rows {
		first, padding, last, ok := parsePartial(row[0])
		if !ok || row[1] != "text" {
			continue
		}
		partials++
		if shown := partial(row[2], first, padding, last); shown != row[3] {
			t.Errorf("%s makes %q of %q, and the filter %q", row[0], shown, row[2], row[3])
		}
	}
	if partials < 3 {
		t.Errorf("docs/reference/masks.md has %d rows of partial", partials)
	}
}

func TestExampleOfAWidePartialMaskShowsItsEnds(t *testing.T) {
	value, masked, known := Example(`partial(30,"-",20)`)
	if !known || !strings.HasPrefix(masked, value[:30]+"-") || !strings.HasSuffix(masked, value[len(value)-20:]) {
		t.Errorf("%t: %q becomes %q", known, value, masked)
	}
}

func TestUnknownMaskHasNoExample(t *testing.T) {
	for _, mask := range []string{"", "last5", "partial", `partial(1,"x")`, `partial(x,"y",1)`, `partial(-1,"y",1)`, `partial(1,"y",65)`} {
		if _, _, known := Example(mask); known {
			t.Errorf("%q has an example", mask)
		}
	}
}
