package catalog

import (
	"regexp"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Table is a table's name as the server has it.
type Table struct{ Schema, Name string }

const namePart = `([a-z_][a-z0-9_$]*|"(?:[^"\x00-\x1f]|"")+")`

var (
	tablePattern = regexp.MustCompile(`^` + namePart + `\.` + namePart + `$`)
	plainName    = regexp.MustCompile(`^[a-z_][a-z0-9_$]*$`)
)

// ParseTable reads schema.table as a catalog writes it: each part in plain lower
// case, or in double quotes.
func ParseTable(text string) (Table, error) {
	parts := tablePattern.FindStringSubmatch(text)
	if parts == nil {
		return Table{}, fault.Input("table \""+text+"\"", "not the name of a table",
			"write it as the catalog does: schema.table, with a part that is not plain lower case in double quotes")
	}
	return Table{unquote(parts[1]), unquote(parts[2])}, nil
}

func unquote(part string) string {
	if !strings.HasPrefix(part, `"`) {
		return part
	}
	return strings.ReplaceAll(part[1:len(part)-1], `""`, `"`)
}

// String is the name as a catalog writes it.
func (t Table) String() string { return quote(t.Schema) + "." + quote(t.Name) }

func quote(part string) string {
	if plainName.MatchString(part) {
		return part
	}
	return `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
}
