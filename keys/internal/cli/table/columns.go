package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/keyflag"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

// columnFlags say which columns are protected, and by which keys.
type columnFlags struct {
	catalogs []string
	columns  []string
	keyIDs   []string
	keysets  keyflag.Keysets
}

func (f *columnFlags) add(c *cobra.Command, command table.Command) {
	c.Flags().StringArrayVar(&f.catalogs, "catalog", nil, "`PATH` of the policies' catalogs, a file, a folder or a bundle; may be repeated")
	c.Flags().StringArrayVar(&f.columns, "column", nil, "one column of the catalog, `NAME`, in place of all; or without a catalog NAME=LABEL:KEYSET:PROTECTION; may be repeated")
	if command != table.Unseal {
		f.keysets.Add(c)
		c.Flags().StringArrayVar(&f.keyIDs, "key-id", nil, "the wanted key, `[COLUMN=]KEY_ID`, in place of the primary key in --keysets; may be repeated")
	}
}

// read gives the columns that are worked on.
func (f *columnFlags) read(database catalog.Database, name catalog.Table) ([]catalog.Column, error) {
	columns, err := f.chosen(database, name)
	if err != nil {
		return nil, err
	}
	for _, column := range columns {
		if column.Protection == catalog.FormatPreserving {
			return nil, fault.Input("column "+column.Name, "it is format_preserving, and nothing tells such a value from plaintext",
				"name the other columns with --column, and see docs/guides/tables.md for this one")
		}
		if column.Tenant.Chosen {
			return nil, fault.Input("column "+column.Name, "its tenant, and with it its keyset, is that of who writes it, and nothing says whose a row is",
				"name the other columns with --column; or where all rows are one tenant's, that one: --column "+
					column.Name+"="+column.Label+":"+column.Keyset+"/TENANT:"+string(column.Protection))
		}
	}
	return columns, nil
}

func (f *columnFlags) chosen(database catalog.Database, name catalog.Table) ([]catalog.Column, error) {
	var defined []catalog.Column
	var names []string
	for _, text := range f.columns {
		column, rest, full := strings.Cut(text, "=")
		if !full {
			names = append(names, text)
			continue
		}
		parts := strings.Split(rest, ":")
		known := []catalog.Protection{catalog.Randomized, catalog.Deterministic, catalog.Indexed, catalog.FormatPreserving}
		if len(parts) != 3 || !slices.Contains(known, catalog.Protection(parts[2])) {
			return nil, fault.Input("--column "+text, "not NAME=LABEL:KEYSET:PROTECTION", "write it like ssn=customer.ssn:pii:deterministic")
		}
		storage := catalog.Storage{Keyset: parts[1], Protection: catalog.Protection(parts[2])}
		defined = append(defined, catalog.Column{Name: column, Label: parts[0], Storage: storage})
	}
	switch {
	case len(defined) > 0 && (len(names) > 0 || len(f.catalogs) > 0):
		return nil, fault.Input("--column", "a column is of the catalog or says all itself, not both", "leave --catalog out, or write names alone")
	case len(defined) > 0:
		return defined, nil
	case len(f.catalogs) == 0:
		return nil, fault.Input("--catalog", "not given", "name the policies' catalogs, or the columns: --column NAME=LABEL:KEYSET:PROTECTION")
	}
	all, err := catalog.Read(f.catalogs)
	if err != nil {
		return nil, err
	}
	columns, err := all.Columns(database, name)
	if err != nil || len(names) == 0 {
		return columns, err
	}
	for _, wanted := range names {
		if !slices.ContainsFunc(columns, func(c catalog.Column) bool { return c.Name == wanted }) {
			return nil, fault.Input("--column "+wanted, "no such column of "+name.String()+" is protected", "see the catalog")
		}
	}
	return slices.DeleteFunc(columns, func(c catalog.Column) bool { return !slices.Contains(names, c.Name) }), nil
}

// wantKeys says of each column under which key it shall be sealed.
func (f *columnFlags) wantKeys(columns []table.Column, must bool) error {
	given, err := f.givenKeys(columns)
	if err != nil {
		return err
	}
	for i := range columns {
		column := &columns[i]
		if column.KeyID = given[column.Name]; column.KeyID == 0 {
			column.KeyID = given[""]
		}
		switch {
		case f.keysets.Folder != "":
			if column.KeyID, err = f.known(column.Column, column.KeyID); err != nil {
				return err
			}
		case column.KeyID == 0 && must:
			return fault.Input("--keysets", "not given, so that the wanted key of "+column.Name+" is not known", "name the folder of the encrypted keysets, or --key-id")
		}
	}
	return nil
}

func (f *columnFlags) givenKeys(columns []table.Column) (map[string]uint32, error) {
	given := map[string]uint32{}
	for _, text := range f.keyIDs {
		name, number, named := strings.Cut(text, "=")
		if !named {
			name, number = "", text
		}
		keyID, err := strconv.ParseUint(number, 10, 32)
		if err != nil || keyID == 0 {
			return nil, fault.Input("--key-id "+text, "not a key id", "see key ids with: fieldveil keys list")
		}
		if named && !slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == name }) {
			return nil, fault.Input("--key-id "+text, "there is no such column among those that are worked on", "see --column")
		}
		given[name] = uint32(keyID)
	}
	return given, nil
}

// known is the key of the column's keyset that is wanted, or its primary key for 0, as
// the keyset's file states it: that needs no key-encryption key.
func (f *columnFlags) known(column catalog.Column, wanted uint32) (uint32, error) {
	store, err := keystore.Open(f.keysets.Folder)
	if err != nil {
		return 0, err
	}
	purpose := keystore.AEAD
	if column.Protection == catalog.Deterministic {
		purpose = keystore.Deterministic
	}
	file, err := store.Read(column.Keyset, purpose)
	if err != nil {
		return 0, err
	}
	info := file.Info()
	if wanted == 0 {
		return info.GetPrimaryKeyId(), nil
	}
	for _, key := range info.GetKeyInfo() {
		if key.GetKeyId() == wanted {
			return wanted, nil
		}
	}
	return 0, fault.Input("--key-id "+strconv.FormatUint(uint64(wanted), 10), "the keyset "+column.Keyset+" of column "+column.Name+" has no such key for its protection",
		"see key ids with: fieldveil keys list, or give one for each column: --key-id COLUMN=KEY_ID")
}
