package explain

import (
	"slices"
	"testing"
)

func mask(format string) Read { return Read{Treatment: "mask", Format: format} }

func budget(rows, perSeconds int64, then Read) Read {
	return Read{Treatment: "reveal", Budget: &Budget{Rows: rows, PerSeconds: perSeconds, Then: then}}
}

func TestTreatmentsAreJudgedByWhatTheyShow(t *testing.T) {
	null := Read{Treatment: "null"}
	ladder := []Read{{Treatment: "refuse"}, null, {Treatment: "conceal"}, mask("last4"), budget(10, 60, null), {Treatment: "reveal"}}
	for i, old := range ladder {
		for j, new := range ladder {
			want := verdictOf(j - i)
			if got := compareReads(old, new); got != want {
				t.Errorf("%s to %s is %s, not %s", old.Text(), new.Text(), got, want)
			}
		}
	}
}

func TestTwoMasksAreNeitherMoreNorLess(t *testing.T) {
	if got := compareReads(mask("last4"), mask("email")); got != Changed {
		t.Error(got)
	}
}

func TestBudgetsAreJudgedInAllTheirWays(t *testing.T) {
	null, refuse := Read{Treatment: "null"}, Read{Treatment: "refuse"}
	old := budget(100, 60, null)
	for _, one := range []struct {
		new  Read
		want Verdict
	}{
		{budget(100, 60, null), Same},
		{budget(200, 60, null), Widened},
		{budget(50, 60, null), Narrowed},
		{budget(100, 30, null), Widened},
		{budget(100, 120, null), Narrowed},
		{budget(100, 60, mask("last4")), Widened},
		{budget(100, 60, refuse), Narrowed},
		{budget(200, 30, mask("last4")), Widened},
		{budget(200, 120, null), Changed},
		{budget(200, 120, mask("last4")), Changed},
		{budget(200, 60, refuse), Changed},
	} {
		if got := compareReads(old, one.new); got != one.want {
			t.Errorf("%s to %s is %s, not %s", old.Text(), one.new.Text(), got, one.want)
		}
	}
}

func TestNothingChangesBetweenTheSameReports(t *testing.T) {
	d := Compare(fixture(), edited(t, func(*Report) {}))
	if !d.Empty() || d.Widens() {
		t.Errorf("%+v", d)
	}
}

func TestWideningWeighsMoreThanNarrowing(t *testing.T) {
	d := Compare(fixture(), edited(t, func(r *Report) {
		access := r.at("customer.ssn", "app")
		access.Read, access.Write = Read{Treatment: "conceal"}, "refuse"
		*r.at("customer.notes", "support") = Access{Read: Read{Treatment: "refuse"}, Write: "seal"}
	}))
	var got []string
	for _, c := range d.Changes {
		got = append(got, string(c.Verdict)+" "+c.Label+" "+c.Principal+" "+string(c.Read)+" "+string(c.Write))
	}
	want := []string{"widened customer.notes support narrowed widened", "narrowed customer.ssn app narrowed narrowed"}
	if !slices.Equal(got, want) || !d.Widens() || d.Summary.Widened != 1 || d.Summary.Narrowed != 1 {
		t.Errorf("%q, %+v", got, d.Summary)
	}
}

func TestAnotherRuleForTheSameAccessIsNoChange(t *testing.T) {
	d := Compare(fixture(), edited(t, func(r *Report) { r.at("customer.ssn", "app").ReadBy = []string{"another"} }))
	if len(d.Changes) != 0 {
		t.Errorf("%+v", d.Changes)
	}
}

func TestPlaceThatIsNoLongerProtectedIsWidened(t *testing.T) {
	d := Compare(fixture(), edited(t, func(r *Report) {
		r.Labels = r.Labels[:3]
		r.Cells = slices.DeleteFunc(r.Cells, func(c Cell) bool { return c.Label == "customer.ssn" })
	}))
	if len(d.Places) != 2 || d.Places[0].Verdict != Widened || d.Places[0].NewLabel != "" || !slices.Equal(d.Removed, []string{"customer.ssn"}) || !d.Widens() {
		t.Errorf("%+v", d)
	}
}

func TestPlaceThatIsProtectedFromNowOnIsNarrowed(t *testing.T) {
	d := Compare(fixture(), edited(t, func(r *Report) {
		r.Labels = append(r.Labels, Label{Name: "customer.tax", Places: []string{"shop.public.customer.tax"}})
	}))
	if len(d.Places) != 1 || d.Places[0].Verdict != Narrowed || !slices.Equal(d.Added, []string{"customer.tax"}) || d.Widens() {
		t.Errorf("%+v", d)
	}
}

func TestPlaceOfAnotherLabelIsJudgedByWhatEachLabelGives(t *testing.T) {
	d := Compare(fixture(), edited(t, func(r *Report) {
		r.Labels[2].Places = nil
		r.Labels[0].Places = append(r.Labels[0].Places, "shop.public.customer.notes")
	}))
	if len(d.Places) != 1 || d.Places[0].Verdict != Widened || len(d.Places[0].Changes) != 1 || d.Places[0].Changes[0].Principal != "support" {
		t.Errorf("%+v", d.Places)
	}
}

func TestStorageIsJudgedByWhatItShows(t *testing.T) {
	for _, one := range []struct {
		change func(*Label)
		want   StorageChange
	}{
		{func(l *Label) { l.Keyset = "other" }, StorageChange{Same, "customer.ssn", "keyset", "pii", "other"}},
		{func(l *Label) { l.Protection = "randomized" }, StorageChange{Narrowed, "customer.ssn", "protection", "deterministic", "randomized"}},
		{func(l *Label) { l.Protection = "indexed" }, StorageChange{Changed, "customer.ssn", "protection", "deterministic", "indexed"}},
		{func(l *Label) { l.Protection = "format_preserving" }, StorageChange{Widened, "customer.ssn", "protection", "deterministic", "format_preserving"}},
		{func(l *Label) { l.Plaintext = "reveal" }, StorageChange{Widened, "customer.ssn", "on_plaintext", "", "reveal"}},
	} {
		d := Compare(fixture(), edited(t, func(r *Report) { one.change(&r.Labels[3]) }))
		widens := one.want.Verdict == Widened || one.want.Verdict == Changed
		if len(d.Storage) != 1 || d.Storage[0] != one.want || d.Empty() || d.Widens() != widens {
			t.Errorf("%+v, not %+v", d.Storage, one.want)
		}
	}
}

func TestOnlyTheWantedLabelsAreLeft(t *testing.T) {
	d := exampleDiff(t)
	if err := d.Only("customer.b*"); err != nil {
		t.Fatal(err)
	}
	// Notes moved to customer.born, so it stays.
	if len(d.Changes) != 1 || len(d.Places) != 1 || len(d.Storage) != 0 || d.Summary.Widened != 1+len(d.Data) || d.Summary.Narrowed != 1 {
		t.Errorf("%+v", d)
	}
	r := fixture()
	if err := r.Only("*.ssn"); err != nil || len(r.Labels) != 1 || len(r.Cells) != 4 {
		t.Errorf("%v: %+v", err, r)
	}
}

func TestPatternsNameLabelsAsRulesDo(t *testing.T) {
	for _, one := range []struct {
		pattern, label string
		want           bool
	}{
		{"customer.ssn", "customer.ssn", true},
		{"customer.ssn", "customer.ssn2", false},
		{"customer.*", "customer.ssn", true},
		{"customer.*", "customer.tax.id", false},
		{"customer.**", "customer.tax.id", true},
		{"*", "customer.ssn", false},
		{"**", "customer.ssn", true},
		{"c*r.ssn", "customer.ssn", true},
		{"customer.ssn", "customerXssn", false},
	} {
		fits, err := Matcher(one.pattern)
		if err != nil || fits(one.label) != one.want {
			t.Errorf("%s names %s: %v", one.pattern, one.label, err)
		}
	}
	if _, err := Matcher("customer.[a-z]"); err == nil {
		t.Error("a class of characters is taken")
	}
}
