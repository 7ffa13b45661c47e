// Package spiffe asks SPIFFE's Workload API.
package spiffe

import (
	"strings"

	"github.com/spiffe/go-spiffe/v2/workloadapi"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// CheckSocket refuses an address that the Workload API can not have; none is none.
func CheckSocket(address string) error {
	if address == "" {
		return nil
	}
	// Over TCP anybody near could say who runs here.
	if err := workloadapi.ValidateAddress(address); err != nil || !strings.HasPrefix(address, "unix:") {
		return fault.Input("--spiffe-socket", "not the address of a Unix socket", "write it as unix:///run/spire/sockets/agent.sock")
	}
	return nil
}
