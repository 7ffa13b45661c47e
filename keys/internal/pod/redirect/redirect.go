// Package redirect leads TCP connections of a network namespace to listeners of
// the sidecar in it, by rules of nf_tables: for applications whose connection
// strings can not change.
//
// It is a convenience and not the lock: who runs as the sidecar's user, or may
// change the rules, passes them by. What must not be reached without the sidecar is
// kept by the network's policy and the database's own credentials.
package redirect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Table is the nf_tables table, of family inet, that holds all rules and nothing else.
const Table = "fieldveil_redirect"

// maxPorts is far above the upstreams of a sidecar: each is a rule that every new
// connection of the pod is compared with.
const maxPorts = 64

// Port is one port of servers, and the local port that its connections go to.
type Port struct{ From, To uint16 }

// Rules is what shall be.
type Rules struct {
	Ports      []Port
	ExceptUIDs []uint32 // whose connections go where they are meant to: the sidecar's
	Loopback   bool     // connections within the pod are led to the sidecar as well
}

// ParsePort reads FROM:TO.
func ParsePort(text string) (Port, error) {
	from, to, both := strings.Cut(text, ":")
	port := Port{number(from), number(to)}
	if !both || port.From == 0 || port.To == 0 {
		return Port{}, fault.Input("--to \""+text+"\"", "not PORT:LISTENER_PORT", "write two numbers from 1 to 65535, such as 5432:15432")
	}
	return port, nil
}

func number(text string) uint16 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// Check refuses what could not work.
func (r *Rules) Check() error {
	switch {
	case len(r.Ports) == 0:
		return fault.Input("--to", "not given", "name the servers' port and the sidecar's: 5432:15432")
	case len(r.Ports) > maxPorts:
		return fault.Input("--to", fmt.Sprintf("given more than %d times", maxPorts), "redirect fewer ports")
	case len(r.ExceptUIDs) == 0:
		return fault.Input("--except-uid", "not given, so that the sidecar's own connections would come back to it",
			"name the user that it runs as, as a number")
	}
	for i, port := range r.Ports {
		if slices.ContainsFunc(r.Ports[:i], func(other Port) bool { return other.From == port.From }) {
			return fault.Input("--to "+port.String(), fmt.Sprintf("port %d is redirected twice", port.From),
				"redirect each port to one listener; two servers on one port can't be told apart here")
		}
	}
	return nil
}

// String is the port as --to takes it.
func (p Port) String() string { return fmt.Sprintf("%d:%d", p.From, p.To) }
