package keys

import (
	"fmt"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// changed is the JSON form of a change of one keyset.
type changed struct {
	Action               string           `json:"action"`
	Name                 string           `json:"name"`
	Purpose              keystore.Purpose `json:"purpose"`
	Path                 string           `json:"path"`
	Changed              bool             `json:"changed"` // false: it was so already
	KeyID                uint32           `json:"key_id"`
	PreviousPrimaryKeyID uint32           `json:"previous_primary_key_id"`
	PrimaryKeyID         uint32           `json:"primary_key_id"`
	Backup               *string          `json:"backup"` // null: none was kept
}

func changedOf(action string, change *keystore.Change, keyID uint32) changed {
	return changed{
		Action: action, Name: change.Name, Purpose: change.Purpose, Path: change.Path, Changed: change.Changed, KeyID: keyID,
		PreviousPrimaryKeyID: change.PreviousPrimary, PrimaryKeyID: change.Primary, Backup: orNull(change.Backup),
	}
}

// printChange prints a change and where the former text is kept.
func printChange(printer *command.Printer, change *keystore.Change, said string, document changed) error {
	text := fmt.Sprintf("%s: %s\n", change.Path, said)
	if change.Backup != "" {
		text += fmt.Sprintf("%s: its former text is kept in %s\n", change.Path, change.Backup)
	}
	return printer.Done(text, document)
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
