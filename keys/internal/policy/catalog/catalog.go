// Package catalog reads the policies' catalogs: which columns are protected, under
// which label, and how each label is stored. It reads them as the policy library
// does; whether a catalog is sound is for that to say.
package catalog

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxFileBytes bounds a catalog: thousands of columns.
const maxFileBytes = 16 << 20

// Protection is how a label is stored.
type Protection string

// The protections there are, in the catalog's words.
const (
	Randomized       Protection = "randomized"
	Deterministic    Protection = "deterministic"
	Indexed          Protection = "indexed"
	FormatPreserving Protection = "format_preserving"
)

// Storage is how the values of a label are stored.
type Storage struct {
	Protection Protection `yaml:"protection"`
	Keyset     string     `yaml:"keyset"`
	Type       string     `yaml:"type"`
	Tenant     Tenant     `yaml:"tenant"`
}

// Tenant is part of the associated data of values.
type Tenant struct {
	Name   string
	Chosen bool // by the principal: each has its own, and a keyset with it
}

// UnmarshalYAML reads a tenant's name, or what chooses the tenant.
func (t *Tenant) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.MappingNode {
		t.Chosen = true
		return nil
	}
	return node.Decode(&t.Name)
}

// Column is a protected column.
type Column struct {
	Name  string
	Label string
	Storage
}

// Catalog is all catalogs that were read, as one.
type Catalog struct {
	place  string
	labels map[string]Storage
	tables []table
}

// Database is one of a server, as catalogs name it.
type Database struct {
	Protocol string // postgres or mysql
	Name     string
}

type table struct {
	database Database
	relation string
	columns  map[string]labelOrStorage
}

type file struct {
	Labels    map[string]Storage `yaml:"labels"`
	Databases []struct {
		Protocol string                               `yaml:"protocol"`
		Database string                               `yaml:"database"`
		Columns  map[string]map[string]labelOrStorage `yaml:"columns"`
	} `yaml:"databases"`
}

// labelOrStorage is a label's name, or what the column says of itself.
type labelOrStorage struct {
	label   string
	storage *Storage
}

func (l *labelOrStorage) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&l.label)
	}
	return node.Decode(&l.storage)
}

// Read reads catalogs: a file of YAML or JSON each; a bundle of policies; or a folder,
// of which every data.yaml and data.json is read, as OPA does. Files that speak of
// something else, such as rules, are passed over.
func Read(paths []string) (*Catalog, error) {
	all := &Catalog{place: strings.Join(paths, ", "), labels: map[string]Storage{}}
	for _, path := range paths {
		files, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if err := all.read(name); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.Input(path, fault.Cause(err), "name a catalog: a file of YAML or JSON, a bundle of policies, or a folder of catalogs")
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{"data.yaml", "data.yml", "data.json"}, entry.Name()) {
			files = append(files, name)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fault.Failure(path, fault.Cause(err), "make the folder readable")
	case len(files) == 0:
		return nil, fault.Input(path, "no data.yaml or data.json lies in it", "name the folder of the catalogs, or a catalog's file")
	}
	return files, nil
}

func (c *Catalog) read(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFileBytes {
		return fault.Input(path, "longer than a catalog can be (16 MiB)", "name a catalog")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fault.Unreadable(path, err)
	}
	if bytes.HasPrefix(text, bundleMagic) {
		return c.readBundle(path, text)
	}
	var read file
	if err := yaml.Unmarshal(text, &read); err != nil {
		return fault.Input(path, "it is no catalog: it is not YAML or JSON of a catalog's shape",
			"see what OPA says of it: opa check --schema policies/schemas policies")
	}
	return c.add(path, &read)
}

func (c *Catalog) add(path string, read *file) error {
	for name, storage := range read.Labels {
		if err := c.define(path, name, storage); err != nil {
			return err
		}
	}
	for _, database := range read.Databases {
		where := Database{database.Protocol, database.Database}
		for relation, columns := range database.Columns {
			c.tables = append(c.tables, table{where, relation, columns})
		}
	}
	return nil
}

func (c *Catalog) define(path, label string, storage Storage) error {
	if known, twice := c.labels[label]; twice && known != storage {
		return fault.Input(path, "label "+label+" is defined in two ways", "define it once")
	}
	c.labels[label] = storage
	return nil
}

// Columns are the protected columns of a table, by name.
func (c *Catalog) Columns(database Database, wanted Table) ([]Column, error) {
	found := map[string]Column{}
	for _, table := range c.tables {
		name, err := ParseTable(table.relation)
		if err != nil || table.database != database || name != wanted {
			continue
		}
		for column, value := range table.columns {
			one, err := c.column(table.relation, column, value)
			if err != nil {
				return nil, err
			}
			if known, twice := found[column]; twice && known != one {
				return nil, fault.Input(c.place, wanted.String()+"."+column+" has two labels", "give it one")
			}
			found[column] = one
		}
	}
	if len(found) == 0 {
		return nil, fault.Input(c.place, "no column of "+wanted.String()+" in the "+database.Protocol+" database "+database.Name+" is protected",
			"name the catalogs with --catalog as OPA has them, and the table as they do")
	}
	columns := make([]Column, 0, len(found))
	for _, column := range found {
		columns = append(columns, column)
	}
	slices.SortFunc(columns, func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
	return columns, nil
}

func (c *Catalog) column(relation, name string, value labelOrStorage) (Column, error) {
	if value.storage != nil {
		// A column that says how it is stored has a label of its own.
		return Column{Name: name, Label: relation + "." + name, Storage: *value.storage}, nil
	}
	storage, defined := c.labels[value.label]
	if !defined {
		return Column{}, fault.Input(c.place, "label "+value.label+" is not defined", "name the catalog that defines it too")
	}
	return Column{Name: name, Label: value.label, Storage: storage}, nil
}
