//go:build !linux

package redirect

import "github.com/fieldveil/fieldveil/keys/internal/fault"

// Apply is for Linux alone.
func (r *Rules) Apply() error { return errElsewhere() }

// Verify is for Linux alone.
func (r *Rules) Verify() error { return errElsewhere() }

func errElsewhere() error {
	return fault.Input("redirect", "only Linux has nf_tables", "run it in the pod")
}
