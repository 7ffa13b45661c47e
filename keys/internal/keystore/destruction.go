package keystore

import "slices"

// Destruction names what is destroyed: whole keysets, or one key of one.
type Destruction struct {
	Name    string
	Whole   bool // the name with all its keysets
	Keysets []DestroyedKeyset
	Copies  int  // former texts, and what is noted beside the keysets
	Gone    bool // the one key was taken out by a run that was cut short

	finishes bool     // a run that was cut short
	texts    []string // digests of the keysets' files: status and primary are agreed to as well
}

// DestroyedKeyset names keys of one keyset.
type DestroyedKeyset struct {
	Purpose Purpose
	KeyIDs  []uint32 // sorted
}

// Has says whether a key is among what is destroyed.
func (d *Destruction) Has(keyID uint32) bool {
	return slices.ContainsFunc(d.Keysets, func(k DestroyedKeyset) bool { return slices.Contains(k.KeyIDs, keyID) })
}

// isOf says whether it is of this one key. Without a purpose, of any keyset.
func (d *Destruction) isOf(purpose Purpose, keyID uint32) bool {
	return !d.Whole && d.Has(keyID) && (purpose == "" || purpose == d.Keysets[0].Purpose)
}

// absorb adds what an earlier run, cut short, had named.
func (d *Destruction) absorb(earlier *Destruction) {
	for _, more := range earlier.Keysets {
		i := slices.IndexFunc(d.Keysets, func(k DestroyedKeyset) bool { return k.Purpose == more.Purpose })
		if i < 0 {
			d.Keysets = append(d.Keysets, more)
			continue
		}
		ids := slices.Concat(d.Keysets[i].KeyIDs, more.KeyIDs)
		slices.Sort(ids)
		d.Keysets[i].KeyIDs = slices.Compact(ids)
	}
	slices.SortFunc(d.Keysets, func(a, b DestroyedKeyset) int {
		return slices.Index(Purposes, a.Purpose) - slices.Index(Purposes, b.Purpose)
	})
}

// isSame says whether two name the same.
func (d *Destruction) isSame(other *Destruction) bool {
	return d.Name == other.Name && d.Whole == other.Whole && d.Copies == other.Copies && d.Gone == other.Gone &&
		slices.Equal(d.texts, other.texts) &&
		slices.EqualFunc(d.Keysets, other.Keysets, func(a, b DestroyedKeyset) bool {
			return a.Purpose == b.Purpose && slices.Equal(a.KeyIDs, b.KeyIDs)
		})
}
