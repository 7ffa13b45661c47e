package table

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

// jobFlags are those of seal, unseal, reseal and verify.
type jobFlags struct {
	command  table.Command
	where    location
	columns  columnFlags
	through  string
	batch    int
	rate     float64
	maxLag   time.Duration
	retryFor time.Duration
	every    time.Duration
	state    string
	rows     rangeFlags
	dryRun   bool
	unsealed bool
	triggers bool
	output   string
}

func (f *jobFlags) writes() bool { return f.command != table.Verify }

func (f *jobFlags) add(c *cobra.Command) {
	flags := c.Flags()
	f.where.add(c)
	f.columns.add(c, f.command)
	batch := "rows read at once"
	if f.writes() {
		batch += ", and at most written in one transaction"
	}
	flags.IntVar(&f.batch, "batch", 500, batch)
	f.rows.add(c)
	flags.StringVar(&f.state, "checkpoint", "", "`FILE` that says how far the work is, to go on from there")
	flags.DurationVar(&f.retryFor, "retry-for", 5*time.Minute, "how long to try again when a connection is lost or a row is held by others")
	flags.DurationVar(&f.every, "progress", 0, "time between two lines of progress (default 10s, 1s on a terminal)")
	flags.StringVar(&f.output, "output", "text", "`FORM` of the report: text or json")
	if !f.writes() {
		flags.BoolVar(&f.unsealed, "unsealed", false, "verify that every value is plaintext instead")
		return
	}
	flags.StringVar(&f.through, "through", "", "connection `URL` through the sidecar, or $FIELDVEIL_THROUGH_URL; a password better in $PGPASSWORD or ~/.pgpass")
	flags.BoolVar(&f.dryRun, "dry-run", false, "check everything, write nothing, and say what would be done")
	flags.BoolVar(&f.triggers, "allow-triggers", false, "go on though triggers before UPDATE may change rows: they leave the protected columns alone")
	flags.Float64Var(&f.rate, "max-rows-per-second", 0, "write at most so many rows a second (default no limit)")
	flags.DurationVar(&f.maxLag, "max-lag", 0, "wait while a standby is further behind than this (default not looked at)")
}

// job connects and checks everything that can be checked before the first row.
func (f *jobFlags) job(c *cobra.Command) (*table.Job, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	job := &table.Job{
		Command: f.command, Batch: f.batch, DryRun: f.dryRun, Unsealed: f.unsealed, Rate: f.rate, MaxLag: f.maxLag,
		RetryFor: f.retryFor, Progress: progress(c.ErrOrStderr(), f.every),
	}
	if f.rate > 0 {
		job.Batch = max(1, min(f.batch, int(f.rate)))
	}
	server, err := f.where.open(c.Context(), f.throughURL(), f.writes())
	if err != nil {
		return nil, err
	}
	if err := f.fill(c.Context(), job, server); err != nil {
		server.Reset()
		return nil, err
	}
	return job, nil
}

func (f *jobFlags) fill(ctx context.Context, job *table.Job, server targetServer) error {
	job.Server, job.Table = server, f.where.name.String()
	columns, err := f.columns.read(server.Database(), f.where.name)
	if err != nil {
		return err
	}
	if job.Columns, err = server.Use(columns, f.writes()); err != nil {
		return err
	}
	if err := onceConnected(server.RequireDirect(ctx)); err != nil {
		return err
	}
	if !f.unsealed && f.command != table.Unseal {
		if err := f.columns.wantKeys(job.Columns, f.command != table.Seal); err != nil {
			return err
		}
	}
	if job.Range, err = f.rows.of(server.Key()); err != nil {
		return err
	}
	for _, bound := range []struct {
		flag string
		key  table.Key
	}{{"--from", job.Range.From}, {"--to", job.Range.To}} {
		if err := server.CheckKey(ctx, f.rows.flagOf(bound.flag, bound.key), bound.key); err != nil {
			return onceConnected(err)
		}
	}
	if f.writes() {
		if err := onceConnected(server.Prepare(ctx, f.command, f.triggers)); err != nil {
			return err
		}
	}
	if f.maxLag > 0 {
		lag, err := server.Lag(ctx)
		if err == nil && lag.Standbys == 0 {
			err = fault.Input("--max-lag", "no standby of the server is seen", "see to the standby, grant the user of --direct pg_monitor, or leave it out")
		}
		if err != nil {
			return onceConnected(err)
		}
	}
	if f.state != "" {
		if job.Checkpoint, err = table.OpenCheckpoint(f.state, work(job, server)); err != nil {
			return err
		}
		if err := server.CheckKey(ctx, "--checkpoint "+f.state, job.Checkpoint.After()); err != nil {
			job.Checkpoint.Close()
			return onceConnected(err)
		}
	}
	return nil
}

func (f *jobFlags) check() error {
	switch {
	case f.batch < 1 || f.batch > 10_000:
		return fault.Input("--batch", "not between 1 and 10000", "leave it out, or give another number")
	case f.rate < 0:
		return fault.Input("--max-rows-per-second", "less than nothing", "leave it out, or give more")
	case f.maxLag < 0:
		return fault.Input("--max-lag", "less than nothing", "leave it out, or give more")
	case f.retryFor < 0:
		return fault.Input("--retry-for", "less than nothing", "leave it out, or give more")
	case f.dryRun && f.state != "":
		return fault.Input("--checkpoint", "a dry run does nothing that could be gone on from", "leave it out")
	}
	return f.rows.check()
}

func (f *jobFlags) throughURL() string {
	if f.through != "" {
		return f.through
	}
	return os.Getenv("FIELDVEIL_THROUGH_URL")
}

func work(job *table.Job, server targetServer) table.Work {
	keys := map[string]uint32{}
	for _, column := range job.Columns {
		keys[column.Name] = column.KeyID
	}
	return table.Work{Command: job.Command, Database: server.Database().Name, Table: job.Table, Key: server.Key(), Columns: keys, Range: job.Range}
}

// onceConnected is for what is tried once: before the first row a person sees
// sooner to it than waiting would.
func onceConnected(err error) error {
	var transient *table.Transient
	if errors.As(err, &transient) {
		return fault.Failure("table", transient.Reason, "see that the server and the sidecar are well")
	}
	return err
}
