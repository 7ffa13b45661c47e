package explain

import (
	"io"
	"strings"
)

type reportPage struct {
	page
	*Report
	Kinds  []countedKind
	Writes int
	Rows   []pageRow
	Data   pageData
}

// Remarks are what is so of a principal whatever the label, and the notes.
func (p reportPage) Remarks() []string { return remarksOf(p.Principals, p.Notes) }

type countedKind struct {
	Kind  string
	Count int
}

type pageRow struct {
	Label
	Cells []pageCell
}

type pageCell struct {
	Principal string
	Denied    bool
	View      *accessView // nil where the principal's database does not have the label
}

// Aside is what a principal's name does not say of it.
func (p Principal) Aside() string {
	var said []string
	for _, attribute := range p.Attributes {
		switch {
		case strings.Contains(p.Name, attribute.Value), attribute.Value == anybody:
		case attribute.Name == "database", attribute.Name == "service":
			said = append(said, attribute.Value)
		default:
			name := attribute.Name[strings.LastIndex(attribute.Name, ".")+1:]
			said = append(said, name+" "+attribute.Value)
		}
	}
	return strings.Join(said, " · ")
}

// pageData is what the script shows of a cell when it is asked.
type pageData struct {
	*Report
	Examples map[string][2]string `json:"examples"`
	Means    map[string]string    `json:"means"`
}

// HTML writes the report as one page that needs nothing beside itself.
func (r *Report) HTML(w io.Writer) error {
	base, err := newPage()
	if err != nil {
		return err
	}
	p := reportPage{page: base, Report: r, Data: pageData{Report: r, Means: map[string]string{}}}
	notes, found, counts := newFootnotes(), r.cells(), map[string]int{}
	var reads []Read
	for _, label := range r.Labels {
		row := pageRow{Label: label}
		for _, principal := range r.Principals {
			cell := pageCell{Principal: principal.Name, Denied: principal.Denied != ""}
			if access, has := found[[2]string{label.Name, principal.Name}]; has {
				cell.View = notes.view(access)
				counts[cell.View.Kind]++
				reads = append(reads, access.Read)
				if access.Seals() {
					p.Writes++
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		p.Rows = append(p.Rows, row)
	}
	for at := len(Kinds) - 1; at >= 0; at-- {
		kind := Kinds[at]
		p.Kinds = append(p.Kinds, countedKind{kind, counts[kind]})
		p.Data.Means[kind] = KindMeaning(kind)
	}
	p.page.Rules = notes.names
	p.Data.Examples = examplesOf(reads)
	return render(w, "report.html", p)
}
