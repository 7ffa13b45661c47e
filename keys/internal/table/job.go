package table

import (
	"context"
	"errors"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// Job is one run of a command over a range of a table.
type Job struct {
	Command  Command
	Table    string
	Columns  []Column
	Server   Server
	Range    Range
	Batch    int // rows of a transaction, at most
	DryRun   bool
	Unsealed bool // verify that all is plaintext
	Rate     float64
	MaxLag   time.Duration // 0: not looked at
	RetryFor time.Duration
	Progress *Progress
	// Checkpoint is nil if none is kept.
	Checkpoint *Checkpoint
}

// Run does the work until it is done, fails, or stop is done: then it finishes its
// batch and keeps its checkpoint.
func (j *Job) Run(stop context.Context) (*Report, error) {
	// What has begun is finished: a signal ends no batch in its middle.
	ctx := context.WithoutCancel(stop)
	run := &run{Job: j, stop: stop, report: newReport(j), after: j.Range.From, throttle: throttle{job: j}, patience: j.RetryFor}
	if done := j.Checkpoint; done != nil && done.state.Done {
		if j.Command != Verify {
			j.Progress.note("--checkpoint " + done.path + ": done by an earlier run, and nothing was looked at; remove the file to begin anew")
			return done.state.Report, nil
		}
		// What an earlier run saw says nothing of what is stored now.
	} else if done != nil && done.state.Report != nil {
		run.report, run.after = done.state.Report.goneOn(j), done.state.After
	}
	if err := run.estimate(ctx); err != nil {
		return nil, err
	}
	run.began, run.before = time.Now(), run.report.Seconds
	err := run.all(ctx)
	run.report.Seconds = run.seconds()
	if saved := run.save(err == nil); err == nil {
		err = saved
	}
	j.Progress.end(run.report)
	return run.report, err
}

// run is a job under way.
type run struct {
	*Job
	stop     context.Context
	report   *Report
	after    Key // all rows up to and with this key are done
	throttle throttle
	began    time.Time
	before   float64 // seconds of earlier runs
	saved    time.Time
	patience time.Duration // how long rows that others hold are tried again
	proven   bool          // a row that was written has come out as it should
}

func (r *run) all(ctx context.Context) error {
	for {
		if r.stop.Err() != nil {
			return r.stopped()
		}
		var page []Row
		err := r.retry(func() (err error) {
			page, err = r.Server.Read(ctx, Range{From: r.after, To: r.Range.To}, r.Batch)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		if last := page[len(page)-1].Key; r.after != nil && last.id() == r.after.id() {
			return fault.Failure(r.Table, "the server reads the key "+last.String()+" otherwise than it writes it",
				"take settings that change how values are written out of the URL of --direct")
		}
		if err := r.page(ctx, page); err != nil {
			return err
		}
		r.after = page[len(page)-1].Key
		r.report.Rows += int64(len(page))
		r.Progress.show(r.report)
		if time.Since(r.saved) >= checkpointEvery {
			if err := r.save(false); err != nil {
				return err
			}
		}
	}
}

// page does one page. The report tells of whole pages only: one that is done in part
// is read again, and would be counted twice.
func (r *run) page(ctx context.Context, page []Row) error {
	before := r.report.clone()
	changes := r.report.see(r.Job, page)
	err := r.throttle.wait(ctx, r, len(changes))
	if err == nil {
		err = r.change(ctx, changes)
	}
	if err != nil {
		r.report = before
	}
	return err
}

func (r *run) seconds() float64 { return r.before + time.Since(r.began).Seconds() }

func (r *run) save(done bool) error {
	if r.Checkpoint == nil {
		return nil
	}
	r.saved = time.Now()
	r.report.Seconds = r.seconds()
	return r.Checkpoint.save(r.after, done, r.report)
}

func (r *run) estimate(ctx context.Context) error {
	return r.retry(func() error {
		rows, err := r.Server.Estimate(ctx, Range{From: r.after, To: r.Range.To})
		r.Progress.begin(r.report.Rows, r.report.Rows+rows)
		return err
	})
}

func (r *run) stopped() error {
	return fault.Failure(r.Table, "stopped by a signal before the end", "run the same command again to go on")
}

const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 10 * time.Second
)

// retry does something until it is done, fails for good, or has failed for
// RetryFor.
func (r *run) retry(do func() error) error {
	began := time.Now()
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		err := do()
		var transient *Transient
		if err == nil || !errors.As(err, &transient) {
			return err
		}
		r.Server.Reset()
		r.Progress.note(transient.Reason + "; trying again")
		if time.Since(began) > r.RetryFor {
			return fault.Failure(r.Table, transient.Reason,
				"see that the server and the sidecar are well, and run the same command again to go on")
		}
		if !sleep(r.stop, spread(delay)) {
			return r.stopped()
		}
	}
}
