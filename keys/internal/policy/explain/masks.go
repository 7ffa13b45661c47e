package explain

import (
	"encoding/json"
	"regexp"
	"sync"

	"github.com/fieldveil/fieldveil/policies"
)

// maskSchema is the description of all masks, policies/schemas/masks/data.json.
type maskSchema struct {
	Pattern string                   `json:"pattern"`
	Masks   map[string]describedMask `json:"masks"`
	pattern *regexp.Regexp
}

// describedMask is what one mask makes of a made-up value.
type describedMask struct {
	Example struct{ Format, Value, Shown string } `json:"example"`
}

// masks reads the description that is built in. That it can be read is tested.
var masks = sync.OnceValue(func() maskSchema {
	var schema maskSchema
	text, err := policies.Library.ReadFile("schemas/masks/data.json")
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		panic("schemas/masks/data.json: " + err.Error())
	}
	schema.pattern = regexp.MustCompile(schema.Pattern)
	return schema
})
