package explain

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestOutputsAreAsTheGoldenFilesHaveThem(t *testing.T) {
	report, diff := fixture(), exampleDiff(t)
	for name, show := range map[string]func(io.Writer) error{
		"report.txt": report.Text, "report.md": report.Markdown, "report.json": report.JSON,
		"diff.txt": diff.Text, "diff.md": diff.Markdown, "diff.json": diff.JSON,
	} {
		var shown bytes.Buffer
		if err := show(&shown); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, shown.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := testfile.Read(t, file)
		if !bytes.Equal(shown.Bytes(), want) {
			t.Errorf("%s differs; `go test -update` writes it anew:\n%s", file, shown.String())
		}
	}
}

// exampleDiff has every verdict, a moved place, one that is no longer protected, and another storage.
func exampleDiff(t *testing.T) *Diff {
	t.Helper()
	d := Compare(fixture(), edited(t, func(r *Report) {
		r.at("customer.notes", "support").Read = Read{Treatment: "reveal"}
		r.at("customer.card", "support").Read.Budget.Rows = 10
		r.at("customer.born", "app").Write = "refuse"
		r.at("customer.ssn", "jobs").Read.Format = "last4"
		r.Labels[3].Protection = "randomized"
		r.Labels[0].Places = []string{"shop.public.customer.born", "shop.public.customer.notes"}
		r.Labels[2].Places = []string{"shop.public.customer.remarks"}
		r.Labels[1].Places = []string{"shop.public.customer.card"}
	}))
	old, new := canned{"data.tokens": fromJSON(t, `{"idp": {"issuer": "https://idp"}}`)}, canned{"data.tokens": fromJSON(t,
		`{"idp": {"issuer": "https://idp", "leeway_seconds": 60}, "<b>evil</b>": {"issuer": "https://evil|x"}}`)}
	if err := d.CompareData(context.Background(), old, new, nil, "", monday); err != nil {
		t.Fatal(err)
	}
	return d
}
