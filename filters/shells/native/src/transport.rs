//! What the shell needs of Envoy for TLS on both sides of a connection, as traits as in [`crate::envoy`].

/// TLS of one connection, on the thread of its worker.
pub trait Transport {
    /// Begins TLS with the server, before the next byte that goes there. False where the cluster's transport socket can not: it
    /// must be `starttls`.
    fn start_server_tls(&mut self) -> bool;
    /// Has the hook of the client's bytes called once more, in the next turn of the worker's loop, while there are any.
    fn come_again(&mut self);
    /// Passes bytes on towards the client, outside of the hook of the server's bytes.
    fn inject_to_client(&mut self, bytes: &[u8]);
    /// Whom the certificate names that the client showed to Envoy itself, which has verified it. None without a certificate.
    fn verified_client(&self) -> Option<CertificateNames>;
}

/// Whom a certificate names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CertificateNames {
    /// The subject, as RFC 2253 writes it.
    pub subject: String,
    /// The alternative names of the kind DNS.
    pub dns: Vec<String>,
    /// Those of the kind URI.
    pub uri: Vec<String>,
}

/// A connection that Envoy has accepted, before one of its filter chains takes it.
pub trait Accepted {
    /// The client's first bytes, as many as have come of those that were asked for. They stay for what reads next.
    fn first_bytes(&self) -> &[u8];
    /// Takes bytes away from the beginning. False where that failed.
    fn drain(&mut self, count: usize) -> bool;
    /// Writes to the client, in plain text. False where not all of it went.
    fn write(&mut self, bytes: &[u8]) -> bool;
    /// Says what the client speaks, as filter chains match it in `transport_protocol`.
    fn set_transport_protocol(&mut self, name: &str);
}
