//! Telling the four packets that may come first apart.

use super::{ProtocolVersion, StartupMessage};
use crate::WireError;
use crate::limits::{MAX_CANCEL_KEY, MAX_STARTUP_PACKET};
use crate::read::Reader;

const MESSAGE: &str = "first packet";

/// Length word and request code.
const PREFIX_LEN: u32 = 8;

/// The request codes that stand where a protocol version would: major 1234.
const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;

/// First byte of a TLS record that carries a handshake. As a length it would be far above the limit.
const TLS_HANDSHAKE: u8 = 0x16;

/// What a client may send before authentication. After SslRequest or GssEncRequest and the server's one-byte
/// answer, another first packet follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstPacket {
    /// A session begins.
    Startup(StartupMessage),
    /// May TLS begin?
    SslRequest,
    /// May GSSAPI encryption begin?
    GssEncRequest,
    /// Cancel what another session runs. Its process id and key are for the server alone.
    CancelRequest,
}

impl FirstPacket {
    /// Reads the packet at the start of `buf` and tells how many bytes it took; `None` until it is complete.
    pub fn parse(buf: &[u8]) -> Result<Option<(Self, usize)>, WireError> {
        // A TLS record is recognised by its first byte: waiting for more would be a hang.
        if buf.first() == Some(&TLS_HANDSHAKE) {
            return Err(WireError::TlsClientHello);
        }
        let Some((word, _)) = buf.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*word);
        if length < PREFIX_LEN {
            return Err(WireError::LengthTooSmall { message: MESSAGE, length });
        }
        let limit = MAX_STARTUP_PACKET.saturating_add(4);
        let too_large = WireError::LengthTooLarge { message: MESSAGE, length, limit };
        if length > limit {
            return Err(too_large);
        }
        let total = usize::try_from(length).map_err(|_| too_large)?;
        let Some(body) = buf.get(4..total) else { return Ok(None) };
        Self::parse_body(body).map(|packet| Some((packet, total)))
    }

    fn parse_body(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let code = reader.u32("request code")?;
        match code {
            SSL_REQUEST => reader.end().map(|()| Self::SslRequest),
            GSSENC_REQUEST => reader.end().map(|()| Self::GssEncRequest),
            CANCEL_REQUEST => cancel_request(Reader::new("CancelRequest", reader.rest())),
            version => {
                let version = ProtocolVersion::from_code(version);
                StartupMessage::parse_parameters(version, reader.rest()).map(Self::Startup)
            }
        }
    }

    /// The request code of a CancelRequest, behind the length.
    pub const CANCEL_REQUEST_CODE: u32 = CANCEL_REQUEST;
    /// The SSLRequest packet.
    pub const SSL_REQUEST_BYTES: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
    /// The GSSENCRequest packet.
    pub const GSSENC_REQUEST_BYTES: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30];
}

fn cancel_request(mut reader: Reader<'_>) -> Result<FirstPacket, WireError> {
    reader.u32("process id")?;
    match reader.rest().len() {
        0 => Err(WireError::Truncated { message: reader.message(), what: "secret key" }),
        1..=MAX_CANCEL_KEY => Ok(FirstPacket::CancelRequest),
        _ => Err(WireError::TooMany {
            message: reader.message(),
            what: "bytes in a secret key",
            limit: MAX_CANCEL_KEY,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cancel(key_len: u8) -> Vec<u8> {
        let mut packet = (12 + u32::from(key_len)).to_be_bytes().to_vec();
        packet.extend_from_slice(&CANCEL_REQUEST.to_be_bytes());
        packet.extend_from_slice(&[0, 0, 0, 7]);
        packet.extend(std::iter::repeat_n(9, key_len.into()));
        packet
    }

    #[test]
    fn requests_are_told_apart_and_take_exactly_their_bytes() {
        for (bytes, packet) in [
            (FirstPacket::SSL_REQUEST_BYTES.to_vec(), FirstPacket::SslRequest),
            (FirstPacket::GSSENC_REQUEST_BYTES.to_vec(), FirstPacket::GssEncRequest),
            (cancel(4), FirstPacket::CancelRequest),
            (cancel(32), FirstPacket::CancelRequest),
        ] {
            for have in 0..bytes.len() {
                assert_eq!(FirstPacket::parse(&bytes[..have]), Ok(None));
            }
            let followed = [&bytes[..], b"more"].concat();
            assert_eq!(FirstPacket::parse(&followed), Ok(Some((packet, bytes.len()))));
        }
    }

    #[test]
    fn tls_client_hello_fails_at_its_first_byte() {
        assert_eq!(FirstPacket::parse(&[0x16]), Err(WireError::TlsClientHello));
    }

    #[test]
    fn http_request_is_malformed_at_once() {
        assert!(matches!(FirstPacket::parse(b"GET "), Err(WireError::LengthTooLarge { .. })));
    }

    #[test]
    fn packet_above_the_servers_limit_is_malformed() {
        assert_eq!(FirstPacket::parse(&10_004_u32.to_be_bytes()), Ok(None));
        assert!(FirstPacket::parse(&10_005_u32.to_be_bytes()).is_err());
        assert!(FirstPacket::parse(&7_u32.to_be_bytes()).is_err());
    }

    #[test]
    fn bytes_stuffed_behind_an_ssl_request_are_malformed() {
        let mut bytes = vec![0, 0, 0, 9];
        bytes.extend_from_slice(&SSL_REQUEST.to_be_bytes());
        bytes.push(0);
        assert_eq!(FirstPacket::parse(&bytes), Err(WireError::TrailingBytes { message: MESSAGE }));
    }

    #[test]
    fn cancel_request_without_a_key_is_malformed() {
        assert!(matches!(FirstPacket::parse(&cancel(0)), Err(WireError::Truncated { .. })));
    }
}
