package table

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/mysql"
	"github.com/fieldveil/fieldveil/keys/internal/table/postgres"
)

// targetServer is what the commands ask of a server beside the work itself.
type targetServer interface {
	table.Server
	// Database is the table's database as catalogs name it, Key the names of the primary key's columns.
	Database() catalog.Database
	Key() []string
	Use(columns []catalog.Column, writes bool) ([]table.Column, error)
	RequireDirect(ctx context.Context) error
	CheckKey(ctx context.Context, place string, key table.Key) error
	Prepare(ctx context.Context, command table.Command, allowTriggers bool) error
}

// location is a table and how to come to it.
type location struct {
	text, direct string
	name         catalog.Table
}

func (p *location) add(c *cobra.Command) {
	c.Flags().StringVar(&p.text, "table", "", "the table, `SCHEMA.TABLE`, as catalogs write it; of MySQL DATABASE.TABLE")
	c.Flags().StringVar(&p.direct, "direct", "", "connection `URL` straight to the server, or $FIELDVEIL_DIRECT_URL")
}

func (p *location) open(ctx context.Context, throughURL string, writes bool) (targetServer, error) {
	if p.text == "" {
		return nil, fault.Input("--table", "not given", "name the table")
	}
	var err error
	if p.name, err = catalog.ParseTable(p.text); err != nil {
		return nil, err
	}
	if p.direct == "" {
		p.direct = os.Getenv("FIELDVEIL_DIRECT_URL")
	}
	if p.direct == "" {
		return nil, fault.Input("--direct", "not given", "name the server without the sidecar: postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE")
	}
	if !writes {
		throughURL = ""
	} else if throughURL == "" {
		return nil, fault.Input("--through", "not given", "name the sidecar: postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE")
	}
	if ofMySQL(p.direct) {
		return p.openMySQL(ctx, throughURL)
	}
	return p.openPostgres(ctx, throughURL)
}

func ofMySQL(url string) bool {
	return strings.HasPrefix(url, "mysql://") || strings.HasPrefix(url, "mariadb://")
}

func (p *location) openPostgres(ctx context.Context, throughURL string) (targetServer, error) {
	direct, through, err := configs(p.direct, throughURL, postgres.Config)
	if err != nil {
		return nil, err
	}
	server, err := postgres.Open(ctx, p.name, direct, through)
	return server, onceConnected(err)
}

func (p *location) openMySQL(ctx context.Context, throughURL string) (targetServer, error) {
	direct, through, err := configs(p.direct, throughURL, mysql.Config)
	if err != nil {
		return nil, err
	}
	server, err := mysql.Open(ctx, p.name, direct, through)
	return server, onceConnected(err)
}

// configs reads both URLs; without one through the sidecar its config is nil.
func configs[T any](directURL, throughURL string, parse func(flag, url string) (*T, error)) (direct, through *T, err error) {
	if direct, err = parse("--direct", directURL); err != nil || throughURL == "" {
		return direct, nil, err
	}
	through, err = parse("--through", throughURL)
	return direct, through, err
}
