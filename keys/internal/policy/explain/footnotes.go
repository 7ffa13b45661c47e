package explain

import (
	"fmt"
	"strings"
)

// footnotes number rules in the order in which a reader meets them.
type footnotes struct {
	numbers map[string]int
	names   []string
}

func newFootnotes() *footnotes { return &footnotes{numbers: map[string]int{}} }

func (f *footnotes) number(rule string) int {
	if _, known := f.numbers[rule]; !known {
		f.names = append(f.names, rule)
		f.numbers[rule] = len(f.names)
	}
	return f.numbers[rule]
}

// mark is " [1,3]" for the rules, nothing for none.
func (f *footnotes) mark(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	numbers := make([]string, 0, len(rules))
	for _, rule := range rules {
		numbers = append(numbers, fmt.Sprint(f.number(rule)))
	}
	return " [" + strings.Join(numbers, ",") + "]"
}

// access is what a cell of a table of text says: "mask last4 [2], write [1]".
func (f *footnotes) access(a Access) string {
	read := a.Read.Text() + f.mark(a.ReadBy)
	switch {
	case a.Seals():
		return read + ", write" + f.mark(a.WriteBy)
	case len(a.WriteBy) > 0:
		return read + ", no write" + f.mark(a.WriteBy)
	}
	return read
}
