package policy

import (
	"encoding/json"
	"slices"
)

// compared are the data that a comparison of policies looks at as what they are; schemas
// decide of problems alone, and system is what OPA says of bundles.
var compared = []string{"catalog", "rules", "schemas", "system", "tokens"}

// Code is the text of every file of Rego, and of data that no kind is, by its path in a
// bundle: two policies of the same code and data answer alike.
func (p *Policy) Code() map[string]string {
	code := map[string]string{}
	for _, f := range p.sources {
		code[f.slashed] += string(f.content)
	}
	for key, value := range p.data {
		if slices.Contains(compared, key) {
			continue
		}
		if text, err := json.Marshal(value); err == nil {
			code["data."+key] = string(text)
		}
	}
	return code
}
