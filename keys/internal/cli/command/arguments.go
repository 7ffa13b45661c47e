package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Exactly wants one argument for each of the names.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		switch {
		case len(arguments) < len(names):
			return fault.Input(c.CommandPath(), names[len(arguments)]+" is missing", seeHelp(c))
		case len(arguments) > len(names):
			return fault.Input(c.CommandPath(), "too many arguments: "+strings.Join(arguments[len(names):], " "), seeHelp(c))
		}
		return nil
	}
}

func noSuchCommand(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	return fault.Input(c.CommandPath(), "there is no command \""+arguments[0]+"\"", seeHelp(c))
}

func seeHelp(c *cobra.Command) string { return "see: " + c.CommandPath() + " --help" }

// ParseUIDs refuses numbers that are no user's.
func ParseUIDs(flag string, given []uint) ([]uint32, error) {
	uids := make([]uint32, 0, len(given))
	for _, uid := range given {
		// The greatest number stands for "nobody" in the kernel's calls.
		if uint64(uid) >= 1<<32-1 {
			return nil, fault.Input(flag+" "+strconv.FormatUint(uint64(uid), 10), "no user has this id", "use the number that id -u shows")
		}
		uids = append(uids, uint32(uid))
	}
	return uids, nil
}
