//! The client of a connection, as Envoy knows it.

use fieldveil_engine::database::Client;

use crate::address::ip;

/// The client at this address, with what the bridge tells of its certificate, if it told anything. The text, if there is one, is for
/// the log.
pub fn client(source: &[u8], certificate: &[u8]) -> (Client, Option<String>) {
    let mut client = Client::at(ip(source));
    if certificate.is_empty() {
        return (client, None);
    }
    let read = client.read_certificate(certificate);
    let what = "what the bridge tells of the client's certificate can not be read, and counts for nothing";
    (client, read.err().map(|error| format!("{what}: {error}")))
}
