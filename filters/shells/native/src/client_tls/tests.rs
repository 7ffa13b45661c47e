//! First bytes of clients, as they come in pieces.

use super::*;

/// What became of a connection whose client has sent this.
#[derive(Default)]
struct Client {
    sent: Vec<u8>,
    told: Vec<u8>,
    protocol: String,
    is_gone: bool,
}

impl Accepted for Client {
    fn first_bytes(&self) -> &[u8] {
        self.sent.get(..FIRST_BYTES).unwrap_or(&self.sent)
    }

    fn drain(&mut self, count: usize) -> bool {
        self.sent.drain(..count);
        true
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        self.told.extend_from_slice(bytes);
        !self.is_gone
    }

    fn set_transport_protocol(&mut self, name: &str) {
        name.clone_into(&mut self.protocol);
    }
}

const STARTUP: &[u8] = b"\0\0\0\x20\0\x03\0\0user";
const CANCEL_REQUEST: &[u8] = b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x01secr";

fn connection(allows_plain: bool) -> ClientTls {
    ClientTls { config: ClientTlsConfig { allows_plain }, declined: false }
}

/// Sends bytes one by one, until something becomes of the connection.
fn send(allows_plain: bool, bytes: &[u8]) -> (Admission, Client) {
    let (mut tls, mut client) = (connection(allows_plain), Client::default());
    assert_eq!(tls.read(&mut client), Admission::Wait, "nothing has come");
    for byte in bytes {
        client.sent.push(*byte);
        let admission = tls.read(&mut client);
        if admission != Admission::Wait {
            return (admission, client);
        }
    }
    (Admission::Wait, client)
}

#[test]
fn ssl_request_is_taken_away_and_tls_takes_over() {
    for allows_plain in [false, true] {
        let (admission, client) = send(allows_plain, &FirstPacket::SSL_REQUEST_BYTES);
        assert_eq!((admission, client.protocol.as_str()), (Admission::Pass, TLS));
        assert_eq!((client.told.as_slice(), client.sent.as_slice()), (&b"S"[..], &b""[..]));
    }
}

#[test]
fn tls_from_the_first_byte_takes_over_with_all_of_it() {
    let (admission, client) = send(false, b"\x16");
    assert_eq!((admission, client.protocol.as_str()), (Admission::Pass, TLS));
    assert_eq!((client.told.as_slice(), client.sent.as_slice()), (&b""[..], &b"\x16"[..]));
}

#[test]
fn gssenc_request_is_declined_once_and_an_ssl_request_may_follow() {
    let both = [FirstPacket::GSSENC_REQUEST_BYTES, FirstPacket::SSL_REQUEST_BYTES].concat();
    let (admission, client) = send(false, &both);
    assert_eq!((admission, client.told.as_slice()), (Admission::Pass, &b"NS"[..]));
    let (admission, client) = send(false, &FirstPacket::GSSENC_REQUEST_BYTES.repeat(2));
    assert_eq!((admission, client.told.get(..2)), (Admission::Close, Some(&b"NE"[..])));
}

#[test]
fn client_without_tls_is_told_unless_it_is_allowed() {
    let (admission, client) = send(false, STARTUP);
    assert_eq!((admission, client.protocol.as_str()), (Admission::Close, ""));
    let told = String::from_utf8_lossy(&client.told);
    assert!(
        told.starts_with('E') && told.contains("28000") && told.contains("sslmode=verify-full"),
        "{told}"
    );
    let (admission, client) = send(true, STARTUP);
    assert_eq!((admission, client.protocol.as_str(), client.told.len()), (Admission::Pass, PLAIN, 0));
    assert_eq!(Some(client.sent.as_slice()), STARTUP.get(..FIRST_BYTES));
}

#[test]
fn cancel_request_passes_in_plain_text_by_a_filter_chain_of_its_own() {
    assert_eq!(send(false, CANCEL_REQUEST).1.protocol, CANCEL);
    assert_eq!(send(true, CANCEL_REQUEST).1.protocol, PLAIN);
}

#[test]
fn bytes_of_another_protocol_are_refused_at_the_first() {
    let (admission, client) = send(false, b"G");
    assert_eq!(admission, Admission::Close);
    assert!(String::from_utf8_lossy(&client.told).contains("08P01"));
    // The session's own reading refuses them where it has the connection.
    assert_eq!(send(true, b"GET / HTTP/1.1").1.protocol, PLAIN);
}

#[test]
fn client_that_takes_no_answer_is_closed() {
    let mut client =
        Client { sent: FirstPacket::SSL_REQUEST_BYTES.to_vec(), is_gone: true, ..Client::default() };
    assert_eq!(connection(false).read(&mut client), Admission::Close);
    assert_eq!(client.protocol, "");
}

#[test]
fn configuration_says_whether_clients_may_come_without_tls() {
    let read = |name: &str, text: &str| ClientTlsConfig::new(name.as_bytes(), text.as_bytes());
    assert_eq!(read("fieldveil.postgres.tls", "require"), Some(ClientTlsConfig { allows_plain: false }));
    assert_eq!(read("fieldveil.postgres.tls", "allow_plain"), Some(ClientTlsConfig { allows_plain: true }));
    for (name, text) in [("fieldveil.postgres.tls", ""), ("fieldveil.mysql.tls", "require"), ("", "require")]
    {
        assert_eq!(read(name, text), None);
    }
}
