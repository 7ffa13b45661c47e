// Package policies holds the Rego library and its schemas, for programs that bring
// them along.
package policies

import "embed"

// Library is the folders fieldveil, schemas and system, as they stand here. Tests are in it.
//
//go:embed fieldveil schemas system
var Library embed.FS
