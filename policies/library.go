// Package policies holds the Rego library and its schemas, for programs that bring
// them along.
package policies

import "embed"

// Library is the folders fieldveil and schemas, as they stand here. Tests are in it.
//
//go:embed fieldveil schemas
var Library embed.FS
