package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Classify turns an error of TLS, or of reading from the server, into a refusal.
func (s *Server) Classify(err error) *peer.Refusal {
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var alert tls.AlertError
	var operation *net.OpError
	switch {
	case errors.As(err, &unverified):
		return s.unverified(unverified.Err)
	case peer.IsTimeout(err):
		return s.Timeout()
	case errors.As(err, &noTLS):
		return s.plaintext()
	case errors.As(err, &alert), errors.As(err, &operation) && operation.Op == "remote error":
		return peer.Refuse(peer.HandshakeFailed, s.Address, "the server ended TLS ("+peer.Reason(err)+")",
			"see the server's log; where it demands a certificate, give --client-certificate and --client-key of an authority that it trusts")
	case peer.IsDisconnect(err):
		return peer.Refuse(peer.ServerDisconnected, s.Address, "the server closed the connection", "see the server's log")
	}
	return peer.Refuse(peer.HandshakeFailed, s.Address, "TLS failed ("+peer.Reason(err)+")", "see the server's log, and which versions of TLS it has: 1.2 is the least")
}

// Timeout says that the server did not go on in time.
func (s *Server) Timeout() *peer.Refusal {
	return peer.Refuse(peer.ServerTimeout, s.Address, "the server did not go on within "+s.HandshakeTimeout.String(), "see the server's load and log, or raise --handshake-timeout")
}

// unverified says why a certificate does not verify, in the words of crypto/x509, which name the certificate's names.
func (s *Server) unverified(err error) *peer.Refusal {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	place := s.Address + ", the server's certificate"
	switch {
	case errors.As(err, &authority):
		return peer.Refuse(peer.UnknownAuthority, place, "none of the trusted authorities signed it", "give the authority that signed it by --ca")
	case errors.As(err, &name):
		return peer.Refuse(peer.WrongName, place, name.Error(), "correct --server-name, or give the server a certificate for "+s.Name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return peer.Refuse(peer.Expired, place, invalid.Error(), "renew it")
	}
	return peer.Refuse(peer.BadCertificate, place, err.Error(), "give the server a certificate for this use")
}
