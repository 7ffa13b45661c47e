//! TLS with a server of MySQL's protocol: what has to be read and changed of the login so that it begins.
//!
//! The server greets, and the client answers; between them the filter puts an SSLRequest, which is the beginning of the client's
//! answer. So until the login is over each packet to the server has a number more than the client gave it. The client knows
//! nothing of it: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>.

use fieldveil_mysql_wire::Capabilities;
use fieldveil_mysql_wire::connection::HandshakeV10;
use fieldveil_mysql_wire::limits::MAX_HANDSHAKE;
use fieldveil_mysql_wire::message::peek_message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};

/// Bytes of an SSLRequest, and of the beginning of a HandshakeResponse: capabilities, longest packet, collation, filler.
const SSL_REQUEST_LEN: usize = 32;
/// `CLIENT_SSL` in the second byte of the capabilities, which are little-endian.
const SSL_AT: usize = 1;
const SSL_BIT: u8 = 0x08;

/// Whether a greeting offers TLS. None until it is whole; what is no greeting is for the session to refuse, or to pass.
pub fn offers_tls(said: &[u8]) -> Option<bool> {
    let Ok(message) = peek_message(said, MAX_HANDSHAKE) else { return Some(true) };
    let payload = message?.payload;
    let greeting = HandshakeV10::parse(&payload);
    Some(greeting.map_or(true, |greeting| greeting.capabilities.has(Capabilities::SSL)))
}

/// The SSLRequest for a client that answers so. None until enough of it has come.
pub fn ssl_request(answer: &[u8]) -> Option<Vec<u8>> {
    let header = Header::peek(answer)?;
    // A shorter one is refused by the session; the server is asked for TLS all the same.
    let known = header.payload_len.min(SSL_REQUEST_LEN);
    let begun = answer.get(HEADER_LEN..)?.get(..known)?;
    let length = u8::try_from(SSL_REQUEST_LEN).unwrap_or_default();
    let mut request = vec![length, 0, 0, header.sequence];
    request.extend_from_slice(begun);
    request.resize(HEADER_LEN.saturating_add(SSL_REQUEST_LEN), 0);
    if let Some(byte) = request.get_mut(HEADER_LEN.saturating_add(SSL_AT)) {
        *byte |= SSL_BIT;
    }
    Some(request)
}

/// A login within TLS, whose packets have other numbers at the server than at the client.
#[derive(Debug, Default)]
pub struct Login {
    from_server: Packets,
    to_server: Packets,
    /// The client's first packet has begun: it alone says what the client can do.
    has_answered: bool,
    /// The packet that the server is sending ends the login.
    is_last: bool,
    is_over: bool,
}

impl Login {
    /// Whether the server has let the client in, or not; behind that the numbers are the same on both sides.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Changes what the server sends into what the client, and the session, are to get.
    pub fn read_server(&mut self, bytes: &mut [u8]) {
        const OK: u8 = 0x00;
        const ERR: u8 = 0xff;
        for byte in bytes {
            if self.is_over {
                return;
            }
            let place = self.from_server.place();
            if place == Place::Number {
                *byte = byte.wrapping_sub(1);
            }
            self.is_last |= place == Place::Payload(0) && matches!(*byte, OK | ERR);
            self.from_server.take(*byte);
            self.is_over = self.is_last && self.from_server.is_between();
        }
    }

    /// Changes what the client sends into what the server is to get.
    pub fn write_server(&mut self, bytes: &mut [u8]) {
        if self.is_over {
            return;
        }
        for byte in bytes {
            let place = self.to_server.place();
            self.to_server.take(*byte);
            match place {
                Place::Number => *byte = byte.wrapping_add(1),
                Place::Payload(SSL_AT) if !self.has_answered => {
                    *byte |= SSL_BIT;
                    self.has_answered = true;
                }
                _ => {}
            }
        }
    }
}

/// Where in its packet a byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Length,
    Number,
    Payload(usize),
}

/// Follows packets through a stream in pieces.
#[derive(Debug, Default)]
struct Packets {
    /// Bytes of the packet that have been.
    taken: usize,
    payload_len: usize,
}

impl Packets {
    fn place(&self) -> Place {
        match self.taken.checked_sub(HEADER_LEN) {
            Some(at) => Place::Payload(at),
            None if self.taken == 3 => Place::Number,
            None => Place::Length,
        }
    }

    fn is_between(&self) -> bool {
        self.taken == 0
    }

    fn take(&mut self, byte: u8) {
        match self.taken {
            0 => self.payload_len = usize::from(byte),
            1 => self.payload_len |= usize::from(byte) << 8,
            2 => self.payload_len |= usize::from(byte) << 16,
            _ => {}
        }
        self.taken = self.taken.saturating_add(1);
        if self.taken >= HEADER_LEN && self.taken >= self.payload_len.saturating_add(HEADER_LEN) {
            self.taken = 0;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
        [&[u8::try_from(payload.len()).unwrap(), 0, 0, number][..], payload].concat()
    }

    /// In one piece, and byte by byte.
    fn changed(bytes: &[u8], mut change: impl FnMut(bool, &mut [u8])) -> Vec<u8> {
        let (mut whole, mut single) = (bytes.to_vec(), bytes.to_vec());
        change(true, &mut whole);
        single.iter_mut().for_each(|byte| change(false, std::slice::from_mut(byte)));
        assert_eq!(whole, single);
        whole
    }

    #[test]
    fn packets_of_the_login_have_other_numbers_at_the_server_until_it_is_over() {
        let mut logins = [Login::default(), Login::default()];
        let answer = [packet(1, b"\0\0\0\0rest"), packet(3, b"")].concat();
        let sent = changed(&answer, |whole, bytes| logins[usize::from(whole)].write_server(bytes));
        assert_eq!(sent, [packet(2, b"\0\x08\0\0rest"), packet(4, b"")].concat());
        let said = [packet(3, b"\xfeswitch"), packet(5, b"\0\0\0ok"), packet(7, b"\0behind")].concat();
        let got = changed(&said, |whole, bytes| logins[usize::from(whole)].read_server(bytes));
        assert_eq!(got, [packet(2, b"\xfeswitch"), packet(4, b"\0\0\0ok"), packet(7, b"\0behind")].concat());
        for login in &mut logins {
            assert!(login.is_over());
            let mut command = packet(0, b"\x03SELECT 1");
            login.write_server(&mut command);
            assert_eq!(command, packet(0, b"\x03SELECT 1"));
        }
    }

    #[test]
    fn ssl_request_is_the_beginning_of_the_answer_with_the_wish_for_tls() {
        let answer = packet(1, &[&[0x85, 0xa2, 0, 0][..], &[7; 28], b"app\0secret"].concat());
        for have in 0..HEADER_LEN + SSL_REQUEST_LEN {
            assert_eq!(ssl_request(&answer[..have]), None);
        }
        let expected = packet(1, &[&[0x85, 0xaa, 0, 0][..], &[7; 28]].concat());
        assert_eq!(ssl_request(&answer), Some(expected));
        assert_eq!(ssl_request(&packet(1, b"")), Some(packet(1, &[&[0, 8][..], &[0; 30]].concat())));
    }
}
