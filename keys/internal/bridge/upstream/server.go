// Package upstream reaches the server: the connection, TLS on it, whom to trust, and what is said where that fails. It
// knows no protocol of a database.
//
// There is no way to leave verification out: TLS with whoever answers protects from nobody who can stand in between.
package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Verification says what of the server's certificate is verified.
type Verification string

// What is verified.
const (
	VerifyFull Verification = "verify-full" // that a trusted authority signed it, and that it is for the server's name
	VerifyCA   Verification = "verify-ca"   // that a trusted authority signed it
)

// Server is how a server is reached.
type Server struct {
	Address      string // HOST:PORT
	Name         string // that the certificate must carry; sent as SNI unless it is an IP address
	Verification Verification
	Protocols    []string          // names for ALPN; none: it is not used
	Credentials  *peer.Credentials // without a file of authorities, the system's count, as they are when the process starts

	ConnectTimeout   time.Duration
	HandshakeTimeout time.Duration // for all that is said before TLS, and TLS
}

// A server that is gone without a word is noticed within two minutes, also on a connection that is idle.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4}

// Dial connects, without TLS. What follows has to be said within HandshakeTimeout, until StartTLS or the caller lifts it.
func (s *Server) Dial(ctx context.Context) (*net.TCPConn, *peer.Refusal) {
	dialer := net.Dialer{Timeout: s.ConnectTimeout, KeepAliveConfig: keepAlive}
	connection, err := dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		if peer.IsTimeout(err) {
			return nil, peer.Refuse(peer.Unreachable, s.Address, "no connection within "+s.ConnectTimeout.String(), "see whether the server runs and its network lets this machine in")
		}
		return nil, peer.Refuse(peer.Unreachable, s.Address, "no connection ("+peer.Reason(err)+")", "see whether the server runs, and whether --server names it")
	}
	tcp := connection.(*net.TCPConn)
	_ = tcp.SetDeadline(time.Now().Add(s.HandshakeTimeout)) // fails on a closed connection alone, which the next call tells
	return tcp, nil
}

// StartTLS begins TLS on a connection whose next byte in both directions is TLS's.
func (s *Server) StartTLS(ctx context.Context, raw *net.TCPConn) (*peer.Conn, *peer.Refusal) {
	if refusal := s.refusePending(raw); refusal != nil {
		return nil, refusal
	}
	secure := peer.Client(raw, s.config())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, s.Classify(err)
	}
	_ = raw.SetDeadline(time.Time{})
	return secure, nil
}

// refusePending refuses what the server sent in plain text behind its consent to TLS: whoever stands in between may have
// put it there, to have it taken for the server's word within TLS (CVE-2021-23222). Bytes that come later fail as TLS.
func (s *Server) refusePending(raw *net.TCPConn) *peer.Refusal {
	unread, err := peer.HasUnread(raw)
	switch {
	case errors.Is(err, io.EOF):
		return peer.Refuse(peer.HandshakeFailed, s.Address, "the server closed the connection before TLS began", "see the server's log")
	case err != nil:
		return peer.Refuse(peer.HandshakeFailed, s.Address, "the connection failed before TLS began ("+peer.Reason(err)+")", "see the server's log")
	case unread:
		return s.plaintext()
	}
	return nil
}

func (s *Server) plaintext() *peer.Refusal {
	return peer.Refuse(peer.Plaintext, s.Address, "unencrypted bytes came where TLS has to begin",
		"see who stands between here and the server: a server sends none")
}

func (s *Server) config() *tls.Config {
	m := s.Credentials.Latest()
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// Records are small at first for browsers, which show what has come.
		DynamicRecordSizingDisabled: true,
		ServerName:                  s.Name,
		NextProtos:                  s.Protocols,
		RootCAs:                     m.Authorities,
	}
	if m.Certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return m.Certificate, nil }
	}
	if s.Verification == VerifyCA {
		// The switch turns off crypto/tls's verification of name and chain together; VerifyConnection verifies the chain.
		config.InsecureSkipVerify = true
		config.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, m.Authorities) }
	}
	return config
}

// verifyChain is what crypto/tls does, without the name.
func verifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, certificate := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(certificate)
	}
	if _, err := state.PeerCertificates[0].Verify(options); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}
