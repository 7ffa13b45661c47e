package explain

import "slices"

// Diff is whose access changes from one set of policies to another.
type Diff struct {
	Version    int             `json:"version"`
	Old        []string        `json:"old"`
	New        []string        `json:"new"`
	AsOf       string          `json:"as_of"`
	Source     string          `json:"principals_from"`
	Notes      []string        `json:"notes"`
	Principals []Principal     `json:"principals"` // under the new policies
	Summary    Summary         `json:"summary"`
	Changes    []Change        `json:"changes"` // of labels that both have: the gravest first, then by label and principal
	Added      []string        `json:"labels_added"`
	Removed    []string        `json:"labels_removed"`
	Places     []PlaceChange   `json:"places"`  // of which the label changed, the gravest first, then by place
	Storage    []StorageChange `json:"storage"` // labels that are stored in another way
	Data       []DataChange    `json:"data"`    // what the policies say differently, and no sample need show
}

// Summary counts verdicts: of changes, of places whose label changed, of storage, and of data.
type Summary struct {
	Widened  int `json:"widened"`
	Changed  int `json:"changed"`
	Narrowed int `json:"narrowed"`
	Places   int `json:"places"`
	Storage  int `json:"storage"`
	Data     int `json:"data"`
}

// Change is what a change of policies does to one principal.
type Change struct {
	Verdict   Verdict `json:"verdict"` // of read and write together
	Label     string  `json:"label"`
	Principal string  `json:"principal"`
	Read      Verdict `json:"read"`
	Write     Verdict `json:"write"`
	Old       Access  `json:"old"`
	New       Access  `json:"new"`
}

// PlaceChange is a place that got another label. With no old label it was not protected, with
// no new one it is no longer: then whoever may log in reads what stands there.
type PlaceChange struct {
	Verdict  Verdict  `json:"verdict"`
	Place    string   `json:"place"`
	OldLabel string   `json:"old_label"`
	NewLabel string   `json:"new_label"`
	Changes  []Change `json:"changes"` // where both labels are: of the place's new label
}

// StorageChange is an attribute of a label's storage that differs. What shows more to whoever
// sees what is stored, or plaintext that is left, is widened; most say nothing of that.
type StorageChange struct {
	Verdict   Verdict `json:"verdict"`
	Label     string  `json:"label"`
	Attribute string  `json:"attribute"`
	Old       string  `json:"old"`
	New       string  `json:"new"`
}

// Compare says what changes from one report to another of the same principals.
func Compare(old, new *Report) *Diff {
	d := &Diff{
		Version: FormatVersion, Old: old.Policies, New: new.Policies, AsOf: new.AsOf, Source: new.Source, Notes: new.Notes,
		Principals: new.Principals, Changes: []Change{}, Added: []string{}, Removed: []string{}, Places: []PlaceChange{}, Storage: []StorageChange{}, Data: []DataChange{},
	}
	before, after := old.cells(), new.cells()
	for _, label := range new.Labels {
		previous, both := old.label(label.Name)
		if !both {
			d.Added = append(d.Added, label.Name)
			continue
		}
		d.Changes = append(d.Changes, changes(before, after, label.Name, label.Name, new.Principals)...)
		d.Storage = append(d.Storage, storageChanges(previous, label)...)
	}
	for _, label := range old.Labels {
		if _, both := new.label(label.Name); !both {
			d.Removed = append(d.Removed, label.Name)
		}
	}
	d.Places = placeChanges(old, new, before, after)
	slices.SortStableFunc(d.Changes, func(a, b Change) int { return a.Verdict.gravity() - b.Verdict.gravity() })
	slices.SortStableFunc(d.Storage, func(a, b StorageChange) int { return a.Verdict.gravity() - b.Verdict.gravity() })
	slices.SortStableFunc(d.Places, func(a, b PlaceChange) int { return a.Verdict.gravity() - b.Verdict.gravity() })
	d.count()
	return d
}

// Empty says whether nothing changes.
func (d *Diff) Empty() bool {
	return len(d.Changes)+len(d.Added)+len(d.Removed)+len(d.Places)+len(d.Storage)+len(d.Data) == 0
}

// Widens says whether somebody may get more: a change that is neither more nor less may be that too.
func (d *Diff) Widens() bool { return d.Summary.Widened+d.Summary.Changed > 0 }

func (d *Diff) count() {
	d.Summary = Summary{Places: len(d.Places), Storage: len(d.Storage), Data: len(d.Data)}
	verdicts := map[Verdict]*int{Widened: &d.Summary.Widened, Changed: &d.Summary.Changed, Narrowed: &d.Summary.Narrowed}
	for _, change := range d.Changes {
		*verdicts[change.Verdict]++
	}
	for _, move := range d.Places {
		if counted := verdicts[move.Verdict]; counted != nil {
			*counted++
		}
	}
	for _, stored := range d.Storage {
		if counted := verdicts[stored.Verdict]; counted != nil {
			*counted++
		}
	}
	for _, one := range d.Data {
		*verdicts[one.Verdict]++
	}
}

func changes(before, after cells, oldLabel, newLabel string, principals []Principal) []Change {
	var found []Change
	for _, principal := range principals {
		old, had := before[[2]string{oldLabel, principal.Name}]
		new, has := after[[2]string{newLabel, principal.Name}]
		if !had || !has {
			continue // one of another database; where the label is gone from it, that shows by its places
		}
		change := Change{Label: newLabel, Principal: principal.Name, Old: old, New: new,
			Read: compareReads(old.Read, new.Read), Write: compareWrites(old, new)}
		if change.Verdict = gravest(change.Read, change.Write); change.Verdict != Same {
			found = append(found, change)
		}
	}
	return found
}

func placeChanges(old, new *Report, before, after cells) []PlaceChange {
	from, to := old.byPlace(), new.byPlace()
	places := sortedKeys(from)
	for _, place := range sortedKeys(to) {
		if _, both := from[place]; !both {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	found := []PlaceChange{}
	for _, place := range places {
		move := PlaceChange{Place: place, OldLabel: from[place], NewLabel: to[place], Verdict: Same, Changes: []Change{}}
		switch {
		case move.OldLabel == move.NewLabel:
			continue
		case move.OldLabel == "":
			move.Verdict = Narrowed
		case move.NewLabel == "":
			move.Verdict = Widened
		default:
			move.Changes = append(move.Changes, changes(before, after, move.OldLabel, move.NewLabel, new.Principals)...)
			for _, change := range move.Changes {
				move.Verdict = gravest(move.Verdict, change.Verdict)
			}
		}
		found = append(found, move)
	}
	return found
}

func (r *Report) byPlace() map[string]string {
	labels := map[string]string{}
	for _, label := range r.Labels {
		for _, place := range label.Places {
			labels[place] = label.Name
		}
	}
	return labels
}

// shows ranks what storage shows: equality, and then the form of values too; and what
// becomes of stored values that are not sealed.
var shows = map[string]map[string]int{
	"protection":   {"randomized": 0, "deterministic": 1, "indexed": 1, "format_preserving": 2},
	"on_plaintext": {"": 0, "refuse": 0, "null": 1, "reveal": 2},
}

func storageChanges(old, new Label) []StorageChange {
	var found []StorageChange
	for _, attribute := range []struct{ name, old, new string }{
		{"protection", old.Protection, new.Protection},
		{"keyset", old.Keyset, new.Keyset},
		{"type", old.Type, new.Type},
		{"alphabet", old.Alphabet, new.Alphabet},
		{"tenant", old.Tenant, new.Tenant},
		{"on_plaintext", old.Plaintext, new.Plaintext},
		{"accept_leakage", old.Leakage, new.Leakage},
	} {
		if attribute.old == attribute.new {
			continue
		}
		ranks := shows[attribute.name]
		verdict := verdictOf(ranks[attribute.new] - ranks[attribute.old])
		if (attribute.name == "protection" || attribute.name == "tenant") && verdict == Same {
			verdict = Changed
		}
		found = append(found, StorageChange{verdict, new.Name, attribute.name, attribute.old, attribute.new})
	}
	return found
}
