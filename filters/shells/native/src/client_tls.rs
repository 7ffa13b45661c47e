//! TLS from PostgreSQL clients: reads a connection's first bytes before one of Envoy's filter chains takes it.
//!
//! An SSLRequest is taken away and answered with yes, so that what comes behind it is TLS; a filter chain with the name
//! [`TLS`] as its `transport_protocol` has to take it over. Nothing of the client is kept here: what Envoy's buffer had behind the
//! request would be read by TLS, which fails of it (CVE-2021-23214).

use fieldveil_engine::ports::Level;
use fieldveil_postgres_wire::startup::FirstPacket;

use crate::envoy_build;
use crate::log::write_log;
use crate::refusal::Refusal;
use crate::transport::Accepted;

/// The filter chain with Envoy's TLS.
pub const TLS: &str = "tls";
/// The one without, where clients may come without.
pub const PLAIN: &str = "raw_buffer";
/// The one for CancelRequests in plain text, where no others may come so.
pub const CANCEL: &str = "fieldveil_cancel";

/// Length and code of a first packet: all that has to be read.
pub const FIRST_BYTES: usize = 8;

/// Begins a record of TLS that carries a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// What becomes of an accepted connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// More bytes have to come.
    Wait,
    /// A filter chain takes it.
    Pass,
    /// It is closed.
    Close,
}

/// The configuration of a listener's filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientTlsConfig {
    /// Whether clients without TLS come in too.
    allows_plain: bool,
}

impl ClientTlsConfig {
    /// Of the filter with this name. What is wrong is logged.
    pub fn new(name: &[u8], text: &[u8]) -> Option<Self> {
        let allows_plain = match (name, text) {
            (b"fieldveil.postgres.tls", b"require") => Some(false),
            (b"fieldveil.postgres.tls", b"allow_plain") => Some(true),
            _ => None,
        };
        if allows_plain.is_none() {
            let name = String::from_utf8_lossy(name);
            let text = String::from_utf8_lossy(text);
            write_log(
                Level::Error,
                &format!(
                    "the listener filter's configuration is not usable: filter_name is {name:?}, it must be \
                     fieldveil.postgres.tls; filter_config is {text:?}, it must be require or allow_plain"
                ),
            );
        }
        allows_plain.map(|allows_plain| Self { allows_plain })
    }

    /// A new connection. None where there can be none: it is closed.
    pub fn connection(self) -> Option<ClientTls> {
        envoy_build::is_tested().then_some(ClientTls { config: self, declined: false })
    }
}

/// A connection whose client has not begun its session.
#[derive(Debug)]
pub struct ClientTls {
    config: ClientTlsConfig,
    /// Whether a GSSENCRequest was declined. A client asks once.
    declined: bool,
}

impl ClientTls {
    /// Bytes came from the client.
    pub fn read(&mut self, envoy: &mut dyn Accepted) -> Admission {
        let bytes = envoy.first_bytes();
        match *bytes {
            [] => return Admission::Wait,
            [TLS_HANDSHAKE, ..] => return pass(envoy, TLS),
            // A length that no first packet has.
            [1..=u8::MAX, ..] if !self.config.allows_plain => return refuse(envoy, &NOT_POSTGRES),
            _ => {}
        }
        let Some(packet) = bytes.first_chunk::<FIRST_BYTES>() else {
            return Admission::Wait;
        };
        match *packet {
            FirstPacket::SSL_REQUEST_BYTES => answer(envoy, b"S", |envoy| pass(envoy, TLS)),
            FirstPacket::GSSENC_REQUEST_BYTES if !self.declined => {
                self.declined = true;
                answer(envoy, b"N", |_| Admission::Wait)
            }
            _ if self.config.allows_plain => pass(envoy, PLAIN),
            [.., a, b, c, d] if u32::from_be_bytes([a, b, c, d]) == FirstPacket::CANCEL_REQUEST_CODE => {
                pass(envoy, CANCEL)
            }
            _ => refuse(envoy, &WITHOUT_TLS),
        }
    }
}

fn pass(envoy: &mut dyn Accepted, protocol: &str) -> Admission {
    envoy.set_transport_protocol(protocol);
    Admission::Pass
}

/// Takes the request away and answers it.
fn answer(
    envoy: &mut dyn Accepted,
    answer: &[u8],
    then: impl FnOnce(&mut dyn Accepted) -> Admission,
) -> Admission {
    if envoy.drain(FIRST_BYTES) && envoy.write(answer) { then(envoy) } else { Admission::Close }
}

fn refuse(envoy: &mut dyn Accepted, refusal: &Refusal) -> Admission {
    // The connection ends, whether the client learns why or not.
    let _ = envoy.write(&refusal.tell());
    Admission::Close
}

const WITHOUT_TLS: Refusal = Refusal {
    code: "28000",
    message: "the client: it asks for a session without TLS",
    hint: "Use sslmode=verify-full in the connection string, or set allow_plain at the listener's tls.",
};
const NOT_POSTGRES: Refusal = Refusal {
    code: "08P01",
    message: "the client: its first bytes are neither PostgreSQL's nor those of TLS",
    hint: "Look whether the client speaks PostgreSQL's protocol 3.",
};

#[cfg(test)]
mod tests;
