// Package peer has what both of the bridge's sides share: connections within TLS, the files of certificates, and why a
// connection is refused. It knows no protocol of a database.
package peer

import "github.com/fieldveil/fieldveil/keys/internal/fault"

// Cause classes why a connection was refused. It is the label of the metric.
type Cause string

// The causes. Each protocol turns them into codes of its own.
const (
	BadClient          Cause = "bad_client"          // the client broke the protocol, or asked for what the bridge does not do
	ClientTimeout      Cause = "client_timeout"      // the client did not go on in time
	TooMany            Cause = "too_many"            // more connections than are allowed at once
	Unreachable        Cause = "unreachable"         // no connection to the server
	ServerTimeout      Cause = "server_timeout"      // the server did not go on in time
	NoTLS              Cause = "no_tls"              // the server does not offer TLS
	BadServer          Cause = "bad_server"          // the server broke the protocol before TLS began
	Plaintext          Cause = "plaintext"           // unencrypted bytes where TLS has to begin
	UnknownAuthority   Cause = "unknown_authority"   // none of the trusted authorities signed the server's certificate
	WrongName          Cause = "wrong_name"          // the certificate is for another name
	Expired            Cause = "expired"             // the certificate has expired, or is not valid yet
	BadCertificate     Cause = "bad_certificate"     // any other reason why the certificate does not verify
	HandshakeFailed    Cause = "handshake_failed"    // TLS failed in another way, or the server ended it
	ServerRefused      Cause = "server_refused"      // the server refused the connection before TLS, by its protocol's own error
	PlainClient        Cause = "plain_client"        // the client goes on without TLS, which is not allowed
	ClientCertificate  Cause = "client_certificate"  // the client's certificate is missing, or does not verify
	ServerDisconnected Cause = "server_disconnected" // the server closed before it said anything within TLS
)

// Causes are all of them.
func Causes() []Cause {
	return []Cause{
		BadClient, ClientTimeout, TooMany, Unreachable, ServerTimeout, NoTLS, BadServer, Plaintext, UnknownAuthority, WrongName,
		Expired, BadCertificate, HandshakeFailed, ServerRefused, ServerDisconnected,
		PlainClient, ClientCertificate,
	}
}

// Refusal says why a connection ends before its session begins: place, reason, remedy. It holds nothing of what the
// client sent.
type Refusal struct {
	*fault.Fault
	Cause Cause
}

// Unwrap gives the fault.
func (r *Refusal) Unwrap() error { return r.Fault }

// Refuse makes a refusal.
func Refuse(cause Cause, place, reason, remedy string) *Refusal {
	return &Refusal{fault.Failure(place, reason, remedy), cause}
}
