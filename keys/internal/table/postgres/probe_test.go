package postgres

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/fieldveil/fieldveil/policies"
)

// A column of a type that is masked and not probed would have its masks written over its values.
func TestEveryTypeThatAMaskIsForIsProbed(t *testing.T) {
	text, err := policies.Library.ReadFile("schemas/masks/data.json")
	if err != nil {
		t.Fatal(err)
	}
	var masks struct {
		Types map[string][]string `json:"types"`
	}
	if err := json.Unmarshal(text, &masks); err != nil {
		t.Fatal(err)
	}
	probed := 0
	for _, names := range masks.Types {
		for _, name := range names {
			known, found := pgtype.NewMap().TypeForName(name)
			if !found { // MySQL's name
				continue
			}
			probed++
			if probeValue(known.OID, -1) == nil {
				t.Errorf("a column of type %s can be masked, and is not probed", name)
			}
		}
	}
	if probed < 6 {
		t.Errorf("%d types of PostgreSQL can be masked", probed)
	}
}
