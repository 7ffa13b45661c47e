package keys

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newList() *cobra.Command {
	var keysets keyflag.Keysets
	var kek keyflag.KEK
	output := command.OutputFlag{Text: "table"}
	c := &cobra.Command{
		Use:   "list",
		Short: "Show names, purposes, key ids, status and primary; never key material",
		Long: "Show the keysets of a folder: names, purposes, key ids, status and primary, as the files\n" +
			"state them. With a key-encryption key given, every keyset is opened as well, which proves\n" +
			"what the file states.",
		Example: "  fieldveil keys list --keysets keysets --output json",
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			printer, err := output.Printer(c)
			if err != nil {
				return err
			}
			if err := keysets.Check(); err != nil {
				return err
			}
			store, err := keystore.Open(keysets.Folder)
			if err != nil {
				return err
			}
			info := func(file *keystore.File) (*tinkpb.KeysetInfo, error) { return file.Info(), nil }
			if kek.Given() {
				aead, err := kek.Open()
				if err != nil {
					return err
				}
				info = func(file *keystore.File) (*tinkpb.KeysetInfo, error) {
					handle, err := file.Open(aead)
					if err != nil {
						return nil, err
					}
					return handle.KeysetInfo(), nil
				}
			}
			listing, err := store.List()
			if err != nil {
				return err
			}
			listed, err := readAll(store, listing, info)
			if err != nil {
				return err
			}
			for _, file := range listing.Ignored {
				warnIgnored(printer, file)
			}
			return printer.Show(tableText(listed), map[string][]listedKeyset{"keysets": listed})
		},
	}
	keysets.Add(c)
	kek.Add(c)
	output.Add(c)
	return c
}

type listedKeyset struct {
	Name         string           `json:"name"`
	Purpose      keystore.Purpose `json:"purpose"`
	PrimaryKeyID uint32           `json:"primary_key_id"`
	Keys         []listedKey      `json:"keys"`
}

type listedKey struct {
	KeyID   uint32 `json:"key_id"`
	Status  string `json:"status"`
	Primary bool   `json:"primary"`
	Type    string `json:"type"`
}

func listedKeys(info *tinkpb.KeysetInfo) []listedKey {
	listed := []listedKey{}
	for _, key := range info.GetKeyInfo() {
		typeURL := key.GetTypeUrl()
		listed = append(listed, listedKey{
			KeyID:   key.GetKeyId(),
			Status:  strings.ToLower(key.GetStatus().String()),
			Primary: key.GetKeyId() == info.GetPrimaryKeyId(),
			Type:    typeURL[strings.LastIndex(typeURL, ".")+1:],
		})
	}
	return listed
}

func (k listedKey) primaryText() string {
	if k.Primary {
		return "primary"
	}
	return ""
}

func readAll(
	store *keystore.Store, listing *keystore.Listing, info func(*keystore.File) (*tinkpb.KeysetInfo, error),
) ([]listedKeyset, error) {
	listed := []listedKeyset{}
	for _, name := range listing.All() {
		for _, purpose := range listing.Purposes[name] {
			file, err := store.Read(name, purpose)
			if err != nil {
				return nil, err
			}
			keys, err := info(file)
			if err != nil {
				return nil, err
			}
			one := listedKeyset{Name: name, Purpose: purpose, PrimaryKeyID: keys.GetPrimaryKeyId(), Keys: listedKeys(keys)}
			listed = append(listed, one)
		}
	}
	return listed, nil
}

func tableText(listed []listedKeyset) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tPURPOSE\tKEY ID\tTYPE\tSTATUS\tPRIMARY")
	for _, one := range listed {
		for _, key := range one.Keys {
			row := []string{one.Name, string(one.Purpose), strconv.FormatUint(uint64(key.KeyID), 10), fault.OneLine(key.Type), key.Status, key.primaryText()}
			fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t"))
		}
	}
	table.Flush()
	return text.String()
}
