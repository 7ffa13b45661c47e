// Package fault holds the one shape of error that a person reads: where it is,
// what is wrong, and what to do about it, on one line, with an exit status.
//
// A fault never carries key material, plaintext or the text of a file.
package fault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Exit statuses of the command.
const (
	ExitFailure  = 1 // the machine or a peer failed: the disk, the KMS, a socket
	ExitBadInput = 2 // what the caller gave cannot be used; nothing was changed
)

// Fault is an error with a place, a reason and a remedy.
type Fault struct {
	Place  string // a flag, a file, a keyset, a key URI
	Reason string
	Remedy string
	status int
	met    *Fault // the same fault, before it was met here
}

// Input says that what the caller gave cannot be used.
func Input(place, reason, remedy string) *Fault {
	return &Fault{Place: place, Reason: reason, Remedy: remedy, status: ExitBadInput}
}

// Failure says that the machine or a peer failed.
func Failure(place, reason, remedy string) *Fault {
	return &Fault{Place: place, Reason: reason, Remedy: remedy, status: ExitFailure}
}

// Unreadable says that the file at a place can not be read.
func Unreadable(place string, err error) *Fault {
	return Failure(place, Cause(err), "make the file readable")
}

// Unwritable says that the file at a place can not be written.
func Unwritable(place string, err error) *Fault {
	return Failure(place, Cause(err), "choose a place that can be written")
}

// NoFolder says that a file has no folder that it could be written to.
func NoFolder(path string) *Fault {
	return Input(path, "its folder does not exist", "make "+filepath.Dir(path)+" first")
}

// Error is one line: place, reason, remedy.
func (f *Fault) Error() string {
	return OneLine(f.Place + ": " + f.Reason + "; " + f.Remedy)
}

// At is the same fault met at another place, which comes first.
func (f *Fault) At(place string) *Fault {
	at := *f
	at.Place = place + ": " + f.Place
	at.met = f
	return &at
}

// Unwrap gives the fault that this one is at another place.
func (f *Fault) Unwrap() error {
	if f.met == nil {
		return nil
	}
	return f.met
}

// ExitStatus is the status that the command ends with because of err.
func ExitStatus(err error) int {
	var f *Fault
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		return f.status
	default:
		return ExitFailure
	}
}

// Cause is the reason of an os error alone: its text repeats the path, which the
// fault's place names already.
func Cause(err error) string {
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch {
	case errors.As(err, &pathError):
		return pathError.Err.Error()
	case errors.As(err, &linkError):
		return linkError.Err.Error()
	}
	return err.Error()
}

// OneLine keeps a name with a line break in it from forging a second line, and
// one with other control characters from commanding a terminal.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) { // control characters, and those that turn the direction of writing
			return ' '
		}
		return r
	}, text)
}
