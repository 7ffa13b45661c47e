package keys

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newEnable() *cobra.Command {
	s := &statusChange{
		action: "enable", done: "enabled",
		effect: "what key %d sealed will open again",
		set:    (*keystore.Store).Enable,
	}
	return s.addTo(&cobra.Command{
		Use:   "enable NAME --key-id KEY_ID",
		Short: "Take a disabled key into use again",
		Long: "Take a disabled key into use again: what it sealed opens again once every sidecar has\n" +
			"polled. The primary key stays as it is.",
		Example: "  fieldveil keys enable pii --key-id 1234567 --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii",
	})
}
