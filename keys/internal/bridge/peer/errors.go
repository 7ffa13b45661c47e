package peer

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// IsTimeout says whether an error is that of a time limit.
func IsTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// IsDisconnect says whether an error is the other side's end.
func IsDisconnect(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ENOTCONN)
}

// Reason is an error's reason alone: the text of a network's error repeats both addresses.
func Reason(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Err != nil {
		return operation.Err.Error()
	}
	return err.Error()
}
