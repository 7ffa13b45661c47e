package keys

import (
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
)

// allNames are the names of a folder, of which there must be one: an empty folder
// is a volume that is not mounted, or a mistyped path.
func allNames(store *keystore.Store, folder string, printer *command.Printer) ([]string, error) {
	listing, err := store.List()
	if err != nil {
		return nil, err
	}
	for _, file := range listing.Ignored {
		warnIgnored(printer, file)
	}
	names := listing.All()
	if len(names) == 0 {
		return nil, fault.Input(folder, "there is no keyset in it", "name the folder of the keysets")
	}
	return names, nil
}

func warnIgnored(printer *command.Printer, file string) {
	printer.Warn(file, "ignored, its name is not NAME.PURPOSE.json", "rename it or move it away")
}
