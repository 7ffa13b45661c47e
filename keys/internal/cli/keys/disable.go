package keys

import (
	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newDisable() *cobra.Command {
	s := &statusChange{
		action: "disable", done: "disabled",
		effect: "what key %d sealed will not open until it is enabled again",
		set:    (*keystore.Store).Disable,
	}
	return s.addTo(&cobra.Command{
		Use:   "disable NAME --key-id KEY_ID",
		Short: "Take a key out of use; it can be enabled again",
		Long: "Take a key out of use and leave it in its keyset. What it sealed no longer opens, with an\n" +
			"error that says so, once every sidecar has polled. It can be enabled again, so this is the\n" +
			"step before a key is destroyed. The primary key can not be disabled: promote another first.",
		Example: "  fieldveil keys disable pii --key-id 1234567 --keysets keysets --kek-uri hcvault://vault.example:8200/transit/keys/pii",
	})
}
