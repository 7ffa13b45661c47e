package explain

import "io"

type diffPage struct {
	page
	*Diff
	Groups []verdictGroup
}

// verdictGroup is all changes of one verdict: of access, and of places.
type verdictGroup struct {
	Verdict Verdict
	Title   string
	Means   string
	Toggled bool
	Rows    []changeRow
	Places  []placeRow
	Storage []StorageChange
	Data    []DataChange
}

// Count is how many changes the group shows.
func (g verdictGroup) Count() int { return len(g.Rows) + len(g.Places) + len(g.Storage) + len(g.Data) }

type changeRow struct {
	Change
	Before, After *accessView
}

type placeRow struct {
	PlaceChange
	Rows []changeRow
}

// Remarks are what is so of a principal whatever the label, and the notes.
func (p diffPage) Remarks() []string { return remarksOf(p.Principals, p.Notes) }

// HTML writes the difference as one page that needs nothing beside itself: what is widened comes first.
func (d *Diff) HTML(w io.Writer) error {
	base, err := newPage()
	if err != nil {
		return err
	}
	p := diffPage{page: base, Diff: d}
	notes := newFootnotes()
	for _, group := range []verdictGroup{
		{Verdict: Widened, Title: "Widened", Means: "Reads more, writes what it did not, or more shows of what is stored.", Toggled: true},
		{Verdict: Changed, Title: "Changed", Means: "Neither more nor less: another part of the value, say, or what no sample shows. Judge for yourself.", Toggled: true},
		{Verdict: Narrowed, Title: "Narrowed", Means: "Reads less, writes no longer, or less shows of what is stored.", Toggled: true},
		{Verdict: Same, Title: "Nobody's access", Means: "Another label or another way of storing, and nobody reads or writes more or less."},
	} {
		for _, change := range d.Changes {
			if change.Verdict == group.Verdict {
				group.Rows = append(group.Rows, rowOf(change, notes))
			}
		}
		for _, move := range d.Places {
			if move.Verdict == group.Verdict {
				place := placeRow{PlaceChange: move}
				for _, change := range move.Changes {
					place.Rows = append(place.Rows, rowOf(change, notes))
				}
				group.Places = append(group.Places, place)
			}
		}
		for _, stored := range d.Storage {
			if stored.Verdict == group.Verdict {
				group.Storage = append(group.Storage, stored)
			}
		}
		for _, one := range d.Data {
			if one.Verdict == group.Verdict {
				group.Data = append(group.Data, one)
			}
		}
		p.Groups = append(p.Groups, group)
	}
	return render(w, "diff.html", p)
}

func rowOf(change Change, notes *footnotes) changeRow {
	return changeRow{Change: change, Before: notes.view(change.Old), After: notes.view(change.New)}
}
