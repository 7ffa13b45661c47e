//! TLS with a server that is asked for it by an SSLRequest: whatever comes from the client waits until it begins.

use fieldveil_postgres_wire::startup::FirstPacket;

use crate::refusal::{BAD_SERVER, DISCONNECTED, NO_TLS, PLAINTEXT, Refusal, SERVER_REFUSED};

/// How long the server may take from the SSLRequest on until it says something within TLS.
const PATIENCE_MS: u64 = 10_000;
/// Envoy sends in the next turn of a worker's loop what it was given in this one. A hook of the client's bytes, which is what is
/// counted, comes twice in a turn at most, so the last of three is in a later turn than the sending; one more costs nothing.
const TURNS: u8 = 4;
/// The server's yes, the only answer behind which TLS may begin.
const YES: &[u8] = b"S";
const NO: &[u8] = b"N";

/// Where TLS with the server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTls {
    /// It is the matter of Envoy's cluster alone, whether there is any or none.
    OfCluster,
    /// It is to be asked for when the client has sent its first byte, but for those of its own requests for encryption.
    Wanted(Declined),
    /// The greeting of a server of MySQL's protocol has to offer it.
    Greeting,
    /// Such a server has offered it, and is asked when the client has answered the greeting.
    Offered,
    /// Such a server was asked. It answers nothing: TLS may begin when the request has left Envoy's buffer, so many turns of the
    /// worker's loop from now.
    Leaving { turns: u8, deadline_ms: u64 },
    /// A PostgreSQL server was asked, and has to answer by then.
    Asked { deadline_ms: u64 },
    /// Envoy begins it, and the server has to say something within it by then.
    Begun { deadline_ms: u64 },
    /// The server has spoken within it.
    Established,
}

impl ServerTls {
    /// The packet that asks for it.
    pub const REQUEST: [u8; 8] = FirstPacket::SSL_REQUEST_BYTES;

    /// It is wanted, and the client has sent nothing.
    pub const WANTED: Self = Self::Wanted(Declined::NONE);

    /// Asked for at this time.
    pub fn asked(now_ms: u64) -> Self {
        Self::Asked { deadline_ms: now_ms.saturating_add(PATIENCE_MS) }
    }

    /// The request to a server of MySQL's protocol has gone into Envoy's buffer at this time.
    pub fn leaving(now_ms: u64) -> Self {
        Self::Leaving { turns: TURNS, deadline_ms: now_ms.saturating_add(PATIENCE_MS) }
    }

    /// Whether bytes of the client may go on.
    pub fn is_ready(self) -> bool {
        matches!(self, Self::OfCluster | Self::Begun { .. } | Self::Established)
    }

    /// Whether what is sent now goes within TLS that the filter has begun.
    pub fn is_within(self) -> bool {
        matches!(self, Self::Begun { .. } | Self::Established)
    }

    /// Until when the server has to go on; None where it may take its time.
    pub fn deadline_ms(self) -> Option<u64> {
        match self {
            Self::Leaving { deadline_ms, .. } | Self::Asked { deadline_ms } | Self::Begun { deadline_ms } => {
                Some(deadline_ms)
            }
            Self::OfCluster | Self::Wanted(_) | Self::Greeting | Self::Offered | Self::Established => None,
        }
    }

    /// The server said this before TLS. The error says why it can not begin.
    pub fn read_answer(self, said: &[u8]) -> Result<(), Refusal> {
        let asked = matches!(self, Self::Asked { .. });
        match said {
            YES if asked => Ok(()),
            NO if asked => Err(NO_TLS),
            [b'E', ..] if asked => Err(SERVER_REFUSED),
            // Who adds bytes in clear behind the yes would have them read as if they came within TLS: CVE-2021-23222.
            [b'S', ..] if asked => Err(PLAINTEXT),
            [] => Err(DISCONNECTED),
            _ => Err(BAD_SERVER),
        }
    }
}

/// Which requests for encryption of a client were declined. The server does not take one within TLS that it was asked for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declined {
    ssl: bool,
    gss: bool,
}

/// What a client's first bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// They may become a request for encryption.
    Unclear,
    /// They begin with one, which is declined.
    Request(Declined),
    /// They are for the server.
    Session,
}

impl Declined {
    /// The client has sent nothing.
    pub const NONE: Self = Self { ssl: false, gss: false };
    /// The answer to a request.
    pub const ANSWER: &[u8] = NO;
    /// Bytes of a request.
    pub const REQUEST_BYTES: usize = FirstPacket::SSL_REQUEST_BYTES.len();

    /// Reads the client's next bytes. Each request is declined once, as a server does.
    pub fn read(self, bytes: &[u8]) -> Opening {
        let requests = [
            (FirstPacket::SSL_REQUEST_BYTES, self.ssl, Self { ssl: true, ..self }),
            (FirstPacket::GSSENC_REQUEST_BYTES, self.gss, Self { gss: true, ..self }),
        ];
        for (request, is_declined, then) in requests {
            if !is_declined && bytes.starts_with(&request) {
                return Opening::Request(then);
            }
            if !is_declined && request.starts_with(bytes) {
                return Opening::Unclear;
            }
        }
        Opening::Session
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tls_begins_behind_a_yes_alone() {
        let asked = ServerTls::asked(5);
        assert_eq!(asked.read_answer(b"S"), Ok(()));
        for (said, refusal) in [
            (&b"N"[..], NO_TLS),
            (b"E\0\0\0\x05\0", SERVER_REFUSED),
            (b"S\0", PLAINTEXT),
            (b"SS", PLAINTEXT),
            (b"G", BAD_SERVER),
            (b"R\0\0\0\x08", BAD_SERVER),
            (b"", DISCONNECTED),
        ] {
            assert_eq!(asked.read_answer(said), Err(refusal), "{said:?}");
        }
        assert_eq!(ServerTls::WANTED.read_answer(b"S"), Err(BAD_SERVER));
    }

    #[test]
    fn each_request_of_a_client_is_declined_once() {
        let mut declined = Declined::NONE;
        let requests = [FirstPacket::GSSENC_REQUEST_BYTES, FirstPacket::SSL_REQUEST_BYTES];
        for request in requests {
            for have in 0..request.len() {
                let begun = request.get(..have).unwrap();
                assert_eq!(declined.read(begun), Opening::Unclear);
            }
            let then = match request {
                FirstPacket::SSL_REQUEST_BYTES => Declined { ssl: true, ..declined },
                _ => Declined { gss: true, ..declined },
            };
            assert_eq!(declined.read(&[&request[..], b"more"].concat()), Opening::Request(then));
            declined = then;
        }
        for request in requests {
            assert_eq!(declined.read(&request), Opening::Session);
        }
        assert_eq!(declined.read(b"\0"), Opening::Session);
    }

    #[test]
    fn client_waits_until_tls_begins() {
        let asked = ServerTls::asked(5);
        assert_eq!(asked.deadline_ms(), Some(10_005));
        assert!(!ServerTls::WANTED.is_ready() && !asked.is_ready());
        assert!(ServerTls::OfCluster.is_ready() && !ServerTls::OfCluster.is_within());
        assert!(ServerTls::Established.is_ready() && ServerTls::Established.is_within());
    }
}
