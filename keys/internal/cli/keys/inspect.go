package keys

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newInspect() *cobra.Command {
	var keysets keyflag.Keysets
	var output command.OutputFlag
	c := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Show one name in detail: types, status, primary and age of its keys; never key material",
		Long: "Show the keysets of one name: the type, status and age of every key, which is the primary,\n" +
			"the key-encryption key and the former texts that are kept. No KMS is asked: it shows what the\n" +
			"files state, and fieldveil keys verify proves it. When a key was made and which\n" +
			"key-encryption key wraps it is known of what these commands wrote.",
		Example: "  fieldveil keys inspect pii --keysets keysets\n" +
			"  fieldveil keys inspect pii/acme --keysets keysets --output json",
		Args: command.Exactly("NAME"),
		RunE: func(c *cobra.Command, arguments []string) error {
			name := arguments[0]
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			if err := keystore.CheckName(name); err != nil {
				return err
			}
			if err := keysets.Check(); err != nil {
				return err
			}
			store, err := keystore.Open(keysets.Folder)
			if err != nil {
				return err
			}
			inspected, err := inspect(store, name, time.Now())
			if err != nil {
				return err
			}
			var text strings.Builder
			for _, one := range inspected {
				one.show(&text, name)
			}
			return printer.Show(text.String(), map[string]any{"name": name, "keysets": inspected})
		},
	}
	keysets.Add(c)
	output.Add(c)
	return c
}

type inspectedKeyset struct {
	Purpose      keystore.Purpose `json:"purpose"`
	Path         string           `json:"path"`
	KEKURI       *string          `json:"kek_uri"` // null: not known
	PrimaryKeyID uint32           `json:"primary_key_id"`
	Keys         []inspectedKey   `json:"keys"`
	Backups      []string         `json:"backups"` // paths of former texts, the oldest first
}

type inspectedKey struct {
	listedKey
	Created    *time.Time `json:"created"`     // null: not known
	AgeSeconds *int64     `json:"age_seconds"` // null: not known
}

func inspect(store *keystore.Store, name string, now time.Time) ([]inspectedKeyset, error) {
	files, err := store.ReadAll(name)
	if err != nil {
		return nil, err
	}
	var inspected []inspectedKeyset
	for _, file := range files {
		backups, err := file.Backups()
		if err != nil {
			return nil, err
		}
		one := inspectedKeyset{
			Purpose: file.Purpose, Path: file.Path, PrimaryKeyID: file.Info().GetPrimaryKeyId(), Keys: []inspectedKey{}, Backups: backups,
		}
		if uri, known := file.KEKURI(); known {
			one.KEKURI = &uri
		}
		for _, listed := range listedKeys(file.Info()) {
			key := inspectedKey{listedKey: listed}
			if created, known := file.Created(listed.KeyID); known {
				age := max(0, int64(now.Sub(created).Seconds()))
				key.Created, key.AgeSeconds = &created, &age
			}
			one.Keys = append(one.Keys, key)
		}
		inspected = append(inspected, one)
	}
	return inspected, nil
}

func (k *inspectedKeyset) show(w io.Writer, name string) {
	wrapped := "by a key-encryption key that is not noted"
	if k.KEKURI != nil {
		wrapped = "by " + fault.OneLine(*k.KEKURI)
	}
	fmt.Fprintf(w, "%s %s: %s, wrapped %s, former texts kept: %d\n", name, k.Purpose, k.Path, wrapped, len(k.Backups))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  KEY ID\tTYPE\tSTATUS\tPRIMARY\tCREATED\tAGE")
	for _, key := range k.Keys {
		created, age := "unknown", "unknown"
		if key.Created != nil {
			created, age = key.Created.Format(time.RFC3339), ageText(*key.AgeSeconds)
		}
		row := []string{"  " + strconv.FormatUint(uint64(key.KeyID), 10), fault.OneLine(key.Type), key.Status, key.primaryText(), created, age}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	table.Flush()
}

// ageText is an age in its largest whole unit.
func ageText(seconds int64) string {
	switch {
	case seconds >= 24*3600:
		return fmt.Sprintf("%dd", seconds/(24*3600))
	case seconds >= 3600:
		return fmt.Sprintf("%dh", seconds/3600)
	case seconds >= 60:
		return fmt.Sprintf("%dm", seconds/60)
	}
	return fmt.Sprintf("%ds", seconds)
}
