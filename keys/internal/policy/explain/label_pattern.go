package explain

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Matcher tells which labels a pattern names, as a rule's `labels` do: an asterisk
// stands for characters between two dots, two for any.
func Matcher(pattern string) (func(label string) bool, error) {
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	if strings.ContainsAny(pattern, "?[]{}\\") {
		return nil, fault.Input("--label \""+pattern+"\"", "it has characters that no pattern has", "use * and ** alone")
	}
	var text strings.Builder
	for rest := pattern; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**"):
			text.WriteString(".*")
			rest = strings.TrimLeft(rest, "*")
		case rest[0] == '*':
			text.WriteString(`[^.]*`)
			rest = rest[1:]
		default:
			text.WriteString(regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	compiled, err := regexp.Compile("^(?s:" + text.String() + ")$")
	if err != nil {
		return nil, fault.Input("--label \""+pattern+"\"", "it is no pattern", "use * and ** alone")
	}
	return compiled.MatchString, nil
}

// Only keeps the labels that a pattern names.
func (r *Report) Only(pattern string) error {
	wanted, err := Matcher(pattern)
	if err != nil {
		return err
	}
	r.Labels = slices.DeleteFunc(r.Labels, func(l Label) bool { return !wanted(l.Name) })
	r.Cells = slices.DeleteFunc(r.Cells, func(c Cell) bool { return !wanted(c.Label) })
	return nil
}

// Only keeps what concerns the labels that a pattern names: a place, where its old or
// its new label is one of them.
func (d *Diff) Only(pattern string) error {
	wanted, err := Matcher(pattern)
	if err != nil {
		return err
	}
	d.Changes = slices.DeleteFunc(d.Changes, func(c Change) bool { return !wanted(c.Label) })
	d.Places = slices.DeleteFunc(d.Places, func(m PlaceChange) bool { return !wanted(m.OldLabel) && !wanted(m.NewLabel) })
	d.Storage = slices.DeleteFunc(d.Storage, func(s StorageChange) bool { return !wanted(s.Label) })
	d.Data = slices.DeleteFunc(d.Data, func(s DataChange) bool { return s.labels != nil && !slices.ContainsFunc(s.labels, wanted) })
	d.Added = slices.DeleteFunc(d.Added, func(label string) bool { return !wanted(label) })
	d.Removed = slices.DeleteFunc(d.Removed, func(label string) bool { return !wanted(label) })
	d.count()
	return nil
}
