package connections

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

// SidecarPrefix is what the sidecar's messages begin with.
const SidecarPrefix = "fieldveil: "

// ErrLost says that a connection was lost.
func ErrLost(side string) error { return &table.Transient{Reason: side + ": the connection was lost"} }

// ErrNoServer says that no server of the protocol answers, and why, as far as that quotes nothing of the connection string.
func ErrNoServer(side, protocol string, err error) error {
	return &table.Transient{Reason: side + ": nobody answers there, or not as " + protocol + " does" + because(err)}
}

// ErrSidecar says that a sidecar's message came from where the server should be.
func ErrSidecar(scheme string) error {
	return fault.Input(Direct, "it leads through a sidecar", "let it lead straight to the server: "+scheme+"://USER@HOST:PORT/DATABASE")
}

// HasClass tells whether an error's code is of one of the classes.
func HasClass(code string, classes ...string) bool {
	return slices.ContainsFunc(classes, func(class string) bool { return strings.HasPrefix(code, class) })
}

func because(err error) string {
	var name *net.DNSError
	var number syscall.Errno
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		return " (the host's name is not known)"
	case errors.As(err, &number):
		return " (" + number.Error() + ")"
	case errors.As(err, &certificate):
		return " (its certificate is not trusted)"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return " (no answer in time)"
	}
	return ""
}
