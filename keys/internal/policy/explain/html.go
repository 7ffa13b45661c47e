package explain

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
)

//go:embed page
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"word": KindName, "means": KindMeaning, "join": strings.Join, "protected": protected, "orMissing": orMissing,
}).ParseFS(files, "page/*.html"))

// page is what every page has: its style and script stand in it, and nothing else is
// loaded or run.
type page struct {
	Policy template.HTMLAttr // of content security
	Style  template.CSS
	Script template.JS
	Rules  []string
}

func newPage() (page, error) {
	var p page
	style, err := files.ReadFile("page/page.css")
	if err != nil {
		return p, err
	}
	script, err := files.ReadFile("page/page.js")
	if err != nil {
		return p, err
	}
	p.Style, p.Script = template.CSS(style), template.JS(script)
	p.Policy = template.HTMLAttr(`content="default-src 'none'; style-src ` + hashOf(style) + `; script-src ` + hashOf(script) +
		`; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"`)
	return p, nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func render(w io.Writer, name string, data any) error {
	var text strings.Builder
	if err := pages.ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	return write(w, text.String())
}

// accessView is an access as a cell of a page shows it.
type accessView struct {
	Access
	Kind    string
	Detail  string   // the mask or the budget
	Numbers []string // of the rules, in the list below the table
}

func (f *footnotes) view(a Access) *accessView {
	v := &accessView{Access: a, Kind: a.Read.Kind()}
	switch v.Kind {
	case "mask":
		v.Detail = a.Read.Format
	case "budget":
		b := a.Read.Budget
		v.Detail = rows(b.Rows) + " / " + seconds(b.PerSeconds) + ", then " + b.Then.Text()
	}
	if mark := f.mark(append(append([]string{}, a.ReadBy...), a.WriteBy...)); mark != "" {
		v.Numbers = unique(strings.Split(strings.Trim(mark, " []"), ","))
	}
	return v
}

func unique(words []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, word := range words {
		if !seen[word] {
			seen[word] = true
			kept = append(kept, word)
		}
	}
	return kept
}

// examplesOf are the examples of the masks that occur, by the mask's name.
func examplesOf(reads []Read) map[string][2]string {
	found := map[string][2]string{}
	for _, read := range reads {
		for one := &read; ; one = &one.Budget.Then {
			if value, masked, known := Example(one.Format); known {
				found[one.Format] = [2]string{value, masked}
			}
			if one.Budget == nil {
				break
			}
		}
	}
	return found
}
