package policy

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fieldveil/fieldveil/keys/internal/testfile"
)

var (
	exampleOfDocument = regexp.MustCompile("(?s)(<!-- (run|file): ([^\n]*) -->\n```[a-z]*\n)(.*?)(```\n)")
	// What the document's next policies differ in.
	nextPolicies = strings.NewReplacer(
		"[customer.phone, customer.ssn, customer.born]", "[customer.phone, customer.born]",
		"rows: 200", "rows: 500",
		"labels: [invoice.iban]\n    read: {treatment: mask}", "labels: [invoice.iban]\n    read: {treatment: mask, format: last4}",
		"        mail_to: customer.email\n", "")
)

func TestPolicyExplainDocumentShowsWhatTheCommandDoes(t *testing.T) {
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(root, "docs", "guides", "policy-explain.md")
	text := testfile.Read(t, document)
	t.Chdir(folderOfDocument(t, root))
	examples := 0
	made := exampleOfDocument.ReplaceAllFunc(text, func(example []byte) []byte {
		examples++
		part := exampleOfDocument.FindSubmatch(example)
		shown, words := "", string(part[3])
		if string(part[2]) == "file" {
			content := testfile.Read(t, words)
			shown = string(content)
		} else {
			status, out, errors := run(t, strings.Fields(words)...)
			if status != 0 && status != 4 {
				t.Fatalf("%s: status %d: %s", words, status, errors)
			}
			shown = out
		}
		return bytes.Join([][]byte{part[1], []byte(shown), part[5]}, nil)
	})
	if examples != 3 {
		t.Fatalf("%d examples", examples)
	}
	if *update {
		if err := os.WriteFile(document, made, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(made, text) {
		t.Errorf("docs/guides/policy-explain.md shows something else; `go test ./internal/cli/policy -run PolicyExplainDocument -update` writes it anew:\n%s", made)
	}
}

// folderOfDocument has the starter set, the principals, and the policies that come next.
func folderOfDocument(t *testing.T, root string) string {
	t.Helper()
	folder := t.TempDir()
	copyOf := func(from, to string) {
		testfile.CopyFolder(t, filepath.Join(folder, to), filepath.Join(root, from))
	}
	copyOf("policies/starter", "policies/starter")
	copyOf("docs/examples", "docs/examples")
	copyOf("policies/starter", "next")
	for _, name := range []string{"catalog/crm/data.yaml", "rules/crm/data.yaml"} {
		file := filepath.Join(folder, "next", name)
		text := testfile.Read(t, file)
		changed := nextPolicies.Replace(string(text))
		if changed == string(text) {
			t.Fatalf("%s: nothing of it is what the document changes", file)
		}
		testfile.Write(t, file, changed)
	}
	return folder
}
