package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// change makes the changes of a page. Until a row has been seen to come out as it
// should, it makes one at a time: what spoils envelopes spoils one then. One that is
// refused alone may not be with the others, where a constraint is deferred.
func (r *run) change(ctx context.Context, changes []Change) error {
	for !r.proven && !r.DryRun && len(changes) > 1 {
		before := r.report.clone()
		if err := r.changeAll(ctx, changes[:1]); err != nil {
			return err
		}
		if r.report.Faulty > before.Faulty {
			r.report = before
			break
		}
		changes = changes[1:]
	}
	return r.changeAll(ctx, changes)
}

// changeAll makes the changes, however often that takes: rows that others have locked
// or written meanwhile are read again, and written at once. Those that resist all
// that time are told, and left.
func (r *run) changeAll(ctx context.Context, changes []Change) error {
	given := map[string]bool{} // rows that can not be changed
	progressed := time.Now()
	for delay := firstDelay / 10; len(changes) > 0; delay = min(2*delay, lastDelay/10) {
		var written map[string]string // the version that each was given
		before := len(changes)
		err := r.retry(func() error {
			written = map[string]string{}
			if err := r.write(ctx, changes, written, given); err != nil {
				// What of it was written before it failed is seen in the rows.
				changes = r.left(ctx, changes, given)
				return err
			}
			return nil
		})
		if err != nil || r.DryRun {
			return err
		}
		if changes, err = r.readBack(ctx, changes, written, given); err != nil {
			return err
		}
		r.report.Written += int64(len(written))
		if len(changes) == 0 {
			return nil
		}
		if len(changes) < before {
			progressed, delay = time.Now(), firstDelay/10
		}
		if time.Since(progressed) > r.patience {
			r.giveUp(changes)
			return nil
		}
		if !sleep(r.stop, spread(delay)) {
			return r.stopped()
		}
		err = r.retry(func() error {
			rows, err := r.Server.Get(ctx, keysOf(changes))
			if err == nil {
				changes = r.still(rows, given)
			}
			return err
		})
		if err != nil {
			return err
		}
		if len(changes) < before {
			progressed = time.Now()
		}
	}
	return nil
}

// giveUp tells of rows that others hold. The next are waited for a tenth of the time:
// one who holds some may hold many.
func (r *run) giveUp(changes []Change) {
	for _, change := range changes {
		r.report.fault(change.Key, r.names(change.Columns), "it is locked or written by others all the time")
	}
	more := ""
	if len(changes) > 1 {
		more = fmt.Sprintf(" and %d more rows", len(changes)-1)
	}
	r.Progress.note("row " + changes[0].Key.String() + more + ": locked or written by others all the time; going on without")
	r.patience = r.RetryFor / 10
}

// write makes the changes in one transaction, or, if some of the rows can not be
// changed, in ever smaller ones until these stand alone.
func (r *run) write(ctx context.Context, changes []Change, written map[string]string, given map[string]bool) error {
	if len(changes) == 0 {
		return nil
	}
	var versions []string
	var err error
	if r.DryRun {
		err = r.Server.Try(ctx, r.Command, changes)
	} else {
		versions, err = r.Server.Write(ctx, r.Command, changes)
	}
	var row *RowError
	switch {
	case errors.As(err, &row) && len(changes) == 1:
		given[changes[0].Key.id()] = true
		r.report.fault(changes[0].Key, r.names(changes[0].Columns), row.Reason)
		return nil
	case errors.As(err, &row):
		half := len(changes) / 2
		if err := r.write(ctx, changes[:half], written, given); err != nil {
			return err
		}
		return r.write(ctx, changes[half:], written, given)
	}
	for i, version := range versions {
		if version != "" {
			written[changes[i].Key.id()] = version
		}
	}
	return err
}

// readBack reads the rows as they are stored now, and gives the changes that are
// still to be made. A row that was written is judged while it is as it was written:
// what others make of it later is theirs. A value that is lost ends the work; that
// none is under the wanted key shows a sidecar with other keys.
func (r *run) readBack(ctx context.Context, changes []Change, written map[string]string, given map[string]bool) ([]Change, error) {
	var rows []Row
	err := r.retry(func() (err error) {
		rows, err = r.Server.Get(ctx, keysOf(changes))
		return err
	})
	if err != nil {
		return nil, err
	}
	asked := map[string][]int{}
	for _, change := range changes {
		asked[change.Key.id()] = change.Columns
	}
	var left []Change
	ours, wrong, final, reason := 0, 0, false, ""
	for _, row := range rows {
		id := row.Key.id()
		version, done := written[id]
		if given[id] || done && row.Version != version {
			continue
		}
		if change := r.concerned(row); len(change.Columns) > 0 {
			left = append(left, change)
		}
		if !done {
			continue
		}
		ours++
		if err := r.spoilt(row, asked[id]); err != nil {
			return nil, err
		}
		if text, passing := r.unlike(row, asked[id]); text != "" {
			wrong, final, reason = wrong+1, final || !passing, text
		}
	}
	if final || wrong > 0 && wrong == ours {
		return nil, fault.Failure(r.Table, "what was written through the sidecar is not as it should be: "+reason,
			"see that --through leads through a sidecar whose policy protects the column and which has taken up the keyset, and run the same command again")
	}
	r.proven = r.proven || ours > wrong
	return left, nil
}

// left gives what is still to be done of the changes, or all of them if that can
// not be told now.
func (r *run) left(ctx context.Context, changes []Change, given map[string]bool) []Change {
	r.Server.Reset()
	rows, err := r.Server.Get(ctx, keysOf(changes))
	if err != nil {
		return changes
	}
	return r.still(rows, given)
}

// still is what is to be changed of rows as they are stored now.
func (r *run) still(rows []Row, given map[string]bool) []Change {
	var still []Change
	for _, row := range rows {
		if change := r.concerned(row); len(change.Columns) > 0 && !given[row.Key.id()] {
			still = append(still, change)
		}
	}
	return still
}

// concerned is what of a row the command changes.
func (j *Job) concerned(row Row) Change {
	change := Change{Row: row}
	for i := range j.Columns {
		if state, _ := j.Columns[i].state(row.Values[i]); j.Command.concerns(state) {
			change.Columns = append(change.Columns, i)
		}
	}
	return change
}

// unlike says what of the columns that were written is not as the command leaves it,
// and whether that may pass: a sidecar takes up a new key between two rows.
func (j *Job) unlike(row Row, columns []int) (text string, passing bool) {
	for _, i := range columns {
		state, _ := j.Columns[i].state(row.Values[i])
		name := j.Columns[i].Name
		switch {
		case j.Command == Unseal && (state == Wanted || state == OtherKey):
			return name + " is still sealed", false
		case j.Command != Unseal && state == Plaintext:
			return name + " is still plaintext", false
		case j.Command != Unseal && state == OtherKey:
			return fmt.Sprintf("%s is sealed under another key than %d", name, j.Columns[i].KeyID), true
		}
	}
	return "", false
}

// spoilt finds an envelope that the server did not store as the sidecar wrote it.
func (j *Job) spoilt(row Row, columns []int) error {
	for _, i := range columns {
		state, reason := j.Columns[i].state(row.Values[i])
		if state == Null {
			reason = "it is NULL"
		}
		if state == Null || j.Command != Unseal && (state == Broken || state == OtherLabel) {
			return fault.Failure(j.Table, "row "+row.Key.String()+", column "+j.Columns[i].Name+" is not stored as it was written: "+reason,
				"find the trigger or rule of the table that changes it, or the label if the policy has another one, and mend the rows that verify names")
		}
	}
	return nil
}

func (j *Job) names(columns []int) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = j.Columns[column].Name
	}
	return names
}

func keysOf(changes []Change) []Key {
	keys := make([]Key, len(changes))
	for i := range changes {
		keys[i] = changes[i].Key
	}
	return keys
}

// sleep tells whether it slept to the end.
func sleep(stop context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-stop.Done():
		return false
	case <-timer.C:
		return true
	}
}

// spread keeps many workers from coming back at once.
func spread(delay time.Duration) time.Duration { return delay/2 + rand.N(delay) }
