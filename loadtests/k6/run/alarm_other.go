//go:build !linux

package run

import (
	"context"
	"time"
)

// alarm is Go's timer.
type alarm struct{}

func newAlarm() (*alarm, error) {
	return &alarm{}, nil
}

// wait ends when it is due, or fails with the context.
func (*alarm) wait(ctx context.Context, due time.Time) error {
	select {
	case <-time.After(time.Until(due)):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*alarm) close() {}
