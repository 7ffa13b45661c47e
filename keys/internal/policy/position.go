package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Position is a place in a file. Lines and columns count from 1; 0 where the file
// as a whole is meant.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Path leads to a value below `data`: keys are strings, indexes are integers.
type Path []any

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// String is the path as Rego would have it, without `data.`.
func (p Path) String() string {
	var text strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", step)
		case string:
			switch {
			case !plainKey.MatchString(step):
				text.WriteString("[" + strconv.Quote(step) + "]")
			case i == 0:
				text.WriteString(step)
			default:
				text.WriteString("." + step)
			}
		}
	}
	return text.String()
}

// MarshalJSON is for lists that are empty and not null.
func (p Path) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]any{}, p...))
}

func pathOf(keys []string) Path {
	path := make(Path, len(keys))
	for i, key := range keys {
		path[i] = key
	}
	return path
}
