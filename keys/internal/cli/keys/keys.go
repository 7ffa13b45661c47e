// Package keys is the commands that make, show, rotate and destroy keysets.
package keys

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// New makes the command.
func New() *cobra.Command {
	return command.Group("keys", "Make, show, rotate and destroy keysets",
		newCreate(), newList(), newInspect(), newVerify(), newRotate(), newDisable(), newEnable(), newDestroy(), newRewrap(),
		newCreateReceiptKeyset(), newCheckReceipt(), newCreateInsecureDevKEK())
}
