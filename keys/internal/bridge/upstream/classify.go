package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Classify turns an error of TLS, or of reading from the server, into a refusal.
func (s *Server) Classify(err error) *Refusal {
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var alert tls.AlertError
	var operation *net.OpError
	switch {
	case errors.As(err, &unverified):
		return s.unverified(unverified.Err)
	case isTimeout(err):
		return s.Timeout()
	case errors.As(err, &noTLS):
		return s.plaintext()
	case errors.As(err, &alert), errors.As(err, &operation) && operation.Op == "remote error":
		return Refuse(HandshakeFailed, s.Address, "the server ended TLS ("+cause(err)+")",
			"see the server's log; where it demands a certificate, give --client-certificate and --client-key of an authority that it trusts")
	case isDisconnect(err):
		return Refuse(ServerDisconnected, s.Address, "the server closed the connection", "see the server's log")
	}
	return Refuse(HandshakeFailed, s.Address, "TLS failed ("+cause(err)+")", "see the server's log, and which versions of TLS it has: 1.2 is the least")
}

// Timeout says that the server did not go on in time.
func (s *Server) Timeout() *Refusal {
	return Refuse(ServerTimeout, s.Address, "the server did not go on within "+s.HandshakeTimeout.String(), "see the server's load and log, or raise --handshake-timeout")
}

// unverified says why a certificate does not verify, in the words of crypto/x509, which name the certificate's names.
func (s *Server) unverified(err error) *Refusal {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	place := s.Address + ", the server's certificate"
	switch {
	case errors.As(err, &authority):
		return Refuse(UnknownAuthority, place, "none of the trusted authorities signed it", "give the authority that signed it by --ca")
	case errors.As(err, &name):
		return Refuse(WrongName, place, name.Error(), "correct --server-name, or give the server a certificate for "+s.Name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return Refuse(Expired, place, invalid.Error(), "renew it")
	}
	return Refuse(BadCertificate, place, err.Error(), "give the server a certificate for this use")
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

func isDisconnect(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// cause is the reason alone: the text of a network's error repeats both addresses.
func cause(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Err != nil {
		return operation.Err.Error()
	}
	return err.Error()
}
