package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

func newKeysList() *cobra.Command {
	var keysets keysetsFlag
	var kek kekFlag
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "Show names, purposes, key ids, status and primary; never key material",
		Long: "Show the keysets of a folder: names, purposes, key ids, status and primary, as the files\n" +
			"state them. With a key-encryption key given, every keyset is opened as well, which proves\n" +
			"what the file states.",
		Example: "  fieldveil keys list --keysets keysets --output json",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			show, ok := map[string]func(io.Writer, []listedKeyset) error{"table": showTable, "json": showJSON}[output]
			if !ok {
				return fault.Input("--output \""+output+"\"", "no such form", "use table or json")
			}
			if err := keysets.check(); err != nil {
				return err
			}
			store, err := keystore.Open(keysets.folder)
			if err != nil {
				return err
			}
			info := func(file *keystore.File) (*tinkpb.KeysetInfo, error) { return file.Info(), nil }
			if kek.given() {
				aead, err := kek.open()
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
				(&teller{err: c.ErrOrStderr()}).warnIgnored(file)
			}
			return show(c.OutOrStdout(), listed)
		},
	}
	keysets.add(c)
	kek.add(c)
	c.Flags().StringVar(&output, "output", "table", "`FORM`: table or json")
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

func showTable(w io.Writer, listed []listedKeyset) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tPURPOSE\tKEY ID\tTYPE\tSTATUS\tPRIMARY")
	for _, one := range listed {
		for _, key := range one.Keys {
			row := []string{one.Name, string(one.Purpose), strconv.FormatUint(uint64(key.KeyID), 10), fault.OneLine(key.Type), key.Status, key.primaryText()}
			fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t"))
		}
	}
	return table.Flush()
}

func showJSON(w io.Writer, listed []listedKeyset) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string][]listedKeyset{"keysets": listed})
}
