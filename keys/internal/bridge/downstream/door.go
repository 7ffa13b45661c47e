// Package downstream meets clients: TLS with them, whose certificates are asked for, and the way on to Envoy. It knows no
// protocol of a database.
package downstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/bridge/peer"
)

// Certificates says what is asked of a client's certificate.
type Certificates string

// What is asked. A certificate that is shown has to verify in either case.
const (
	Required Certificates = "required"
	Optional Certificates = "optional"
)

// Session is both ends of what passes: the client's, within TLS or, where that is allowed, without, and Envoy's.
type Session struct {
	Client peer.Stream
	Envoy  peer.Stream
}

// Door is how clients come in.
type Door struct {
	Envoy
	Credentials      *peer.Credentials // with authorities, clients are asked for a certificate of one of them
	Certificates     Certificates
	Protocols        []string // names for ALPN; none: it is not used
	AllowPlain       bool     // clients without TLS come in too
	HandshakeTimeout time.Duration
}

// the place that a refusal names.
const place = "the client"

// RefusePending refuses what a client sent in plain text behind its request for TLS: whoever stands in between may have
// put it there, to have it taken for the client's word within TLS (CVE-2021-23214). Bytes that come later fail as TLS.
func (d *Door) RefusePending(client peer.Socket) *peer.Refusal {
	unread, err := peer.HasUnread(client)
	switch {
	case errors.Is(err, io.EOF):
		return peer.Refuse(peer.BadClient, place, "it closed the connection before TLS began", "see the client's log")
	case err != nil:
		return peer.Refuse(peer.BadClient, place, "the connection failed before TLS began ("+peer.Reason(err)+")", "connect again")
	case unread:
		return plaintext()
	}
	return nil
}

// StartTLS begins TLS with a client, whose first bytes may have been read already. If it fails the client has an alert
// of TLS, and can be told nothing else.
func (d *Door) StartTLS(ctx context.Context, client peer.Socket, begun []byte) (*peer.Conn, *peer.Refusal) {
	_ = client.SetDeadline(time.Now().Add(d.HandshakeTimeout))
	secure := peer.Server(client, begun, d.config())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, d.classify(err)
	}
	_ = client.SetDeadline(time.Time{})
	return secure, nil
}

// RefusePlain refuses a client that goes on without TLS.
func RefusePlain(remedy string) *peer.Refusal {
	return peer.Refuse(peer.PlainClient, place, "it asks for a session without TLS", remedy)
}

// TellsNames says whether Envoy is told whom clients' certificates name.
func (d *Door) TellsNames() bool { return d.ProxyProtocol && d.Credentials.HasAuthorities() }

func (d *Door) config() *tls.Config {
	m := d.Credentials.Latest()
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// Records are small at first for browsers, which show what has come.
		DynamicRecordSizingDisabled: true,
		Certificates:                []tls.Certificate{*m.Certificate},
		NextProtos:                  d.Protocols,
		// As PostgreSQL's server: a ticket would let a client in by a certificate that was verified with former files.
		SessionTicketsDisabled: true,
	}
	if m.Authorities != nil {
		config.ClientCAs, config.ClientAuth = m.Authorities, tls.RequireAndVerifyClientCert
		if d.Certificates == Optional {
			config.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	return config
}

func (d *Door) classify(err error) *peer.Refusal {
	var unverified *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var operation *net.OpError
	switch {
	case errors.As(err, &unverified):
		return peer.Refuse(peer.ClientCertificate, "the client's certificate", unverified.Err.Error(), "show one of an authority that --client-ca holds")
	case strings.HasSuffix(err.Error(), "client didn't provide a certificate"): // crypto/tls has no type for it
		return peer.Refuse(peer.ClientCertificate, place, "it shows no certificate", "show one of an authority that --client-ca holds, or allow none by --client-certificates optional")
	case peer.IsTimeout(err):
		return peer.Refuse(peer.ClientTimeout, place, "it did not end TLS's handshake within "+d.HandshakeTimeout.String(), "see the client's load and log, or raise --handshake-timeout")
	case errors.As(err, &noTLS):
		return plaintext()
	case errors.As(err, &operation) && operation.Op == "remote error":
		return peer.Refuse(peer.HandshakeFailed, place, "it ended TLS ("+peer.Reason(err)+")", "see whether it trusts the authority of --certificate, and by which name it connects")
	case peer.IsDisconnect(err):
		return peer.Refuse(peer.BadClient, place, "it closed the connection within TLS's handshake", "see the client's log")
	}
	return peer.Refuse(peer.HandshakeFailed, place, "TLS failed ("+peer.Reason(err)+")", "see its log: whether it trusts the authority of --certificate, has TLS 1.2 at least, and names the protocol (ALPN)")
}

func plaintext() *peer.Refusal {
	return peer.Refuse(peer.Plaintext, place, "unencrypted bytes came where TLS has to begin", "see who stands between here and the client: a client sends none")
}
