package explain

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxLine is how wide a table of text gets before its principals go to a table of their own.
const maxLine = 160

// Text shows the report as aligned tables: a line for each label, a column for each
// principal, and numbers for the rules that decided, which stand below.
func (r *Report) Text(w io.Writer) error {
	notes := newFootnotes()
	grid := r.grid("LABEL", notes)
	var text strings.Builder
	fmt.Fprintf(&text, "%s as of %s\n\n", strings.Join(r.Policies, ", "), r.AsOf)
	for _, block := range blocks(grid) {
		writeAligned(&text, block)
		text.WriteString("\n")
	}
	if lines := r.Searches(); len(lines) > 0 {
		text.WriteString(searchesHeading + "\n")
		writeAligned(&text, append([][]string{{"LABEL", "BY ITS VALUE", "BY WRITING IT"}}, lines...))
		text.WriteString("\n")
	}
	writeRules(&text, notes)
	writeRemarks(&text, r.Principals, r.Notes)
	return write(w, text.String())
}

// grid is a line for each label and a column for each principal.
func (r *Report) grid(corner string, notes *footnotes) [][]string {
	found := r.cells()
	grid := [][]string{{corner}}
	for _, principal := range r.Principals {
		grid[0] = append(grid[0], principal.Name)
	}
	for _, label := range r.Labels {
		row := []string{label.Name}
		for _, principal := range r.Principals {
			cell := Missing
			if access, has := found[[2]string{label.Name, principal.Name}]; has {
				cell = notes.access(access)
			}
			row = append(row, cell)
		}
		grid = append(grid, row)
	}
	return grid
}

// Text shows the difference as aligned tables, the gravest first.
func (d *Diff) Text(w io.Writer) error {
	notes := newFootnotes()
	var text strings.Builder
	fmt.Fprintf(&text, "%s → %s as of %s\n%s\n\n", strings.Join(d.Old, ", "), strings.Join(d.New, ", "), d.AsOf, d.headline())
	if len(d.Changes) > 0 {
		grid := [][]string{{"VERDICT", "LABEL", "PRINCIPAL", "OLD", "NEW"}}
		for _, c := range d.Changes {
			grid = append(grid, []string{string(c.Verdict), c.Label, c.Principal, notes.access(c.Old), notes.access(c.New)})
		}
		writeAligned(&text, grid)
		text.WriteString("\n")
	}
	if len(d.Places) > 0 {
		grid := [][]string{{"VERDICT", "PLACE", "OLD LABEL", "NEW LABEL", "WHO"}}
		for _, m := range d.Places {
			grid = append(grid, []string{string(m.Verdict), m.Place, protected(m.OldLabel), protected(m.NewLabel), m.who()})
		}
		writeAligned(&text, grid)
		text.WriteString("\n")
	}
	if len(d.Storage) > 0 {
		grid := [][]string{{"VERDICT", "LABEL", "STORED BY", "OLD", "NEW"}}
		for _, s := range d.Storage {
			grid = append(grid, []string{s.verdict(), s.Label, s.Attribute, orMissing(s.Old), orMissing(s.New)})
		}
		writeAligned(&text, grid)
		text.WriteString("\n")
	}
	if len(d.Data) > 0 {
		grid := [][]string{{"VERDICT", "POLICIES SAY", "OLD", "NEW"}}
		for _, s := range d.Data {
			grid = append(grid, []string{string(s.Verdict), s.Place, orMissing(s.Old), orMissing(s.New)})
		}
		writeAligned(&text, grid)
		text.WriteString("\n")
	}
	writeList(&text, "Labels added", d.Added)
	writeList(&text, "Labels removed", d.Removed)
	writeRules(&text, notes)
	writeRemarks(&text, d.Principals, d.Notes)
	return write(w, text.String())
}

func (d *Diff) headline() string {
	if d.Empty() {
		return "nothing changes"
	}
	return fmt.Sprintf("%d widened, %d changed, %d narrowed", d.Summary.Widened, d.Summary.Changed, d.Summary.Narrowed)
}

// who is whom a move concerns.
func (m PlaceChange) who() string {
	switch {
	case m.NewLabel == "":
		return "everybody: no longer protected"
	case m.OldLabel == "":
		return "everybody: protected from now on"
	case len(m.Changes) == 0:
		return "nobody's access changes"
	}
	said := make([]string, 0, len(m.Changes))
	for _, c := range m.Changes {
		said = append(said, fmt.Sprintf("%s %s: %s → %s", c.Principal, c.Verdict, short(c.Old), short(c.New)))
	}
	return strings.Join(said, "; ")
}

// verdict is the verdict as a word, nothing where what changed says nothing of access.
func (s StorageChange) verdict() string {
	if s.Verdict == Same {
		return Missing
	}
	return string(s.Verdict)
}

func short(a Access) string {
	if a.Seals() {
		return a.Read.Text() + ", write"
	}
	return a.Read.Text()
}

func protected(label string) string {
	if label == "" {
		return "not protected"
	}
	return label
}

func orMissing(text string) string {
	if text == "" {
		return Missing
	}
	return text
}

// blocks divides the columns so that lines do not get too wide; each begins with the labels.
func blocks(grid [][]string) [][][]string {
	widths := columnWidths(grid)
	var all [][][]string
	for from := 1; from < len(widths) || from == 1; {
		to, line := from, widths[0]
		for to < len(widths) && (to == from || line+2+widths[to] <= maxLine) {
			line += 2 + widths[to]
			to++
		}
		block := make([][]string, len(grid))
		for i, row := range grid {
			block[i] = append([]string{row[0]}, row[from:to]...)
		}
		all = append(all, block)
		from = max(to, from+1)
	}
	return all
}

func columnWidths(grid [][]string) []int {
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(fault.OneLine(cell)))
		}
	}
	return widths
}

func writeAligned(text *strings.Builder, grid [][]string) {
	widths := columnWidths(grid)
	for _, row := range grid {
		var line strings.Builder
		for i, cell := range row {
			cell = fault.OneLine(cell)
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func writeRules(text *strings.Builder, notes *footnotes) {
	if len(notes.names) == 0 {
		return
	}
	text.WriteString("Rules that decided; where none stands, no rule speaks of it\n")
	for i, name := range notes.names {
		fmt.Fprintf(text, "%5s %s\n", fmt.Sprintf("[%d]", i+1), fault.OneLine(name))
	}
}

func writeList(text *strings.Builder, heading string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(text, "%s: %s\n\n", heading, strings.Join(items, ", "))
	}
}

// writeRemarks tells what is so of a principal whatever the label, and the notes.
func writeRemarks(text *strings.Builder, principals []Principal, notes []string) {
	remarks := remarksOf(principals, notes)
	if len(remarks) > 0 {
		text.WriteString("\n" + strings.Join(remarks, "\n") + "\n")
	}
}

func remarksOf(principals []Principal, notes []string) []string {
	var remarks []string
	for _, p := range principals {
		if p.Denied != "" {
			remarks = append(remarks, fault.OneLine(p.Name+": everything is refused: "+p.Denied))
		}
		for _, used := range p.BreakGlass {
			remarks = append(remarks, fault.OneLine(p.Name+": break-glass in use: "+used))
		}
	}
	for _, note := range notes {
		remarks = append(remarks, fault.OneLine(note))
	}
	return remarks
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fault.Failure("standard output", "it can not be written to ("+fault.Cause(err)+")", "give it room")
	}
	return nil
}
