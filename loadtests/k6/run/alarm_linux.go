package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is the kernel's timer: some tens of microseconds late. Go's own is a whole millisecond late where the process
// has nothing else to do, which would count as latency.
type alarm struct {
	descriptor int
	file       *os.File
	expired    [8]byte
}

func newAlarm() (*alarm, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a timer for a client: %w: each needs an open file, see `ulimit -n`", err)
	}
	return &alarm{descriptor: descriptor, file: os.NewFile(uintptr(descriptor), "timer")}, nil
}

// wait ends when it is due, or fails with the context.
func (alarm *alarm) wait(ctx context.Context, due time.Time) error {
	left := time.Until(due)
	if left <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	once := unix.ItimerSpec{Value: unix.NsecToTimespec(left.Nanoseconds())}
	if err := unix.TimerfdSettime(alarm.descriptor, 0, &once, nil); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = alarm.file.SetReadDeadline(time.Unix(0, 0)) })
	defer stop()
	_, err := alarm.file.Read(alarm.expired[:])
	return err
}

func (alarm *alarm) close() {
	_ = alarm.file.Close()
}
