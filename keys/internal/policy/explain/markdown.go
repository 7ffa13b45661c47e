package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Markdown shows the report as a document: for a merge request, say.
func (r *Report) Markdown(w io.Writer) error {
	notes := newFootnotes()
	grid := r.grid("label", notes)
	var text strings.Builder
	fmt.Fprintf(&text, "# Who can see what\n\n%s as of %s.\n\n", inline(strings.Join(r.Policies, ", ")), r.AsOf)
	markdownTable(&text, grid[0], grid[1:])
	markdownRules(&text, notes)
	markdownSection(&text, searchesHeading, []string{"label", "by its value", "by writing it"}, r.Searches())
	var stored [][]string
	for _, label := range r.Labels {
		stored = append(stored, []string{label.Name, label.Protection, label.Keyset, label.Type, strings.Join(label.Places, ", ")})
	}
	text.WriteString("\n## Where the labels live\n\n")
	markdownTable(&text, []string{"label", "protection", "keyset", "type", "places"}, stored)
	markdownRemarks(&text, r.Principals, r.Notes)
	return write(w, text.String())
}

// Markdown shows the difference as a document, the gravest first.
func (d *Diff) Markdown(w io.Writer) error {
	notes := newFootnotes()
	var text strings.Builder
	fmt.Fprintf(&text, "# Whose access changes\n\n%s → %s as of %s: **%s**.\n", inline(strings.Join(d.Old, ", ")),
		inline(strings.Join(d.New, ", ")), d.AsOf, d.headline())
	for _, verdict := range Verdicts {
		var rows [][]string
		for _, c := range d.Changes {
			if c.Verdict == verdict {
				rows = append(rows, []string{c.Label, c.Principal, notes.access(c.Old), notes.access(c.New)})
			}
		}
		markdownSection(&text, strings.ToUpper(string(verdict[:1]))+string(verdict[1:]), []string{"label", "principal", "old", "new"}, rows)
	}
	var moved, stored [][]string
	for _, m := range d.Places {
		moved = append(moved, []string{string(m.Verdict), m.Place, protected(m.OldLabel), protected(m.NewLabel), m.who()})
	}
	markdownSection(&text, "Places whose label changed", []string{"verdict", "place", "old label", "new label", "who"}, moved)
	for _, s := range d.Storage {
		stored = append(stored, []string{s.verdict(), s.Label, s.Attribute, orMissing(s.Old), orMissing(s.New)})
	}
	markdownSection(&text, "Stored in another way", []string{"verdict", "label", "attribute", "old", "new"}, stored)
	var differing [][]string
	for _, s := range d.Data {
		differing = append(differing, []string{string(s.Verdict), s.Place, orMissing(s.Old), orMissing(s.New)})
	}
	markdownSection(&text, "What the policies say, whoever asks", []string{"verdict", "policies say", "old", "new"}, differing)
	for _, list := range []struct {
		heading string
		labels  []string
	}{{"Labels added", d.Added}, {"Labels removed", d.Removed}} {
		if len(list.labels) > 0 {
			fmt.Fprintf(&text, "\n%s: %s\n", list.heading, inline(strings.Join(list.labels, ", ")))
		}
	}
	markdownRules(&text, notes)
	markdownRemarks(&text, d.Principals, d.Notes)
	return write(w, text.String())
}

func markdownSection(text *strings.Builder, heading string, header []string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintf(text, "\n## %s\n\n", heading)
		markdownTable(text, header, rows)
	}
}

func markdownTable(text *strings.Builder, header []string, rows [][]string) {
	line := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, cell := range cells {
			escaped[i] = inline(cell)
		}
		text.WriteString("| " + strings.Join(escaped, " | ") + " |\n")
	}
	line(header)
	text.WriteString("|" + strings.Repeat(" --- |", len(header)) + "\n")
	for _, row := range rows {
		line(row)
	}
}

func markdownRules(text *strings.Builder, notes *footnotes) {
	if len(notes.names) == 0 {
		return
	}
	text.WriteString("\n## Rules that decided\n\nWhere no number stands, no rule speaks of it.\n\n")
	for i, name := range notes.names {
		fmt.Fprintf(text, "%d. %s\n", i+1, inline(name))
	}
}

func markdownRemarks(text *strings.Builder, principals []Principal, notes []string) {
	remarks := remarksOf(principals, notes)
	if len(remarks) > 0 {
		text.WriteString("\n## Notes\n\n")
	}
	for _, remark := range remarks {
		text.WriteString("- " + inline(remark) + "\n")
	}
}

// inline is text that Markdown and the HTML in it leave as it is.
func inline(text string) string {
	var escaped strings.Builder
	for _, r := range fault.OneLine(text) {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '|', '~', '#':
			escaped.WriteRune('\\')
			escaped.WriteRune(r)
		case '<':
			escaped.WriteString("&lt;")
		case '>':
			escaped.WriteString("&gt;")
		case '&':
			escaped.WriteString("&amp;")
		default:
			escaped.WriteRune(r)
		}
	}
	return escaped.String()
}
