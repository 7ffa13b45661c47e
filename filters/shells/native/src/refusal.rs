//! What a client is told of TLS that can not begin.

use fieldveil_engine::ports::Level;
use fieldveil_mysql_wire::packet::Sequence;
use fieldveil_mysql_wire::response::ErrPacket;
use fieldveil_postgres_wire::backend::ErrorResponse;

use crate::log::write_log;

/// `ER_HANDSHAKE_ERROR`, and its SQLSTATE.
const BAD_HANDSHAKE: u16 = 1043;
const MYSQL_STATE: &[u8; 5] = b"08S01";

/// A connection that ends before its session begins: place and reason, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// SQLSTATE.
    pub code: &'static str,
    /// Place and reason.
    pub message: &'static str,
    /// What to do.
    pub hint: &'static str,
}

impl Refusal {
    /// As a client of MySQL's protocol gets it, in the packet with this number. It is logged too.
    pub fn tell_mysql(&self, number: u8) -> Vec<u8> {
        self.log();
        let text = format!("fieldveil: {}; {}", self.message, self.hint).into_bytes();
        // In the greeting's place there is none.
        let sql_state = (number > 0).then_some(*MYSQL_STATE);
        let error = ErrPacket { code: BAD_HANDSHAKE, sql_state, text: text.into() };
        let mut bytes = Vec::new();
        // It is short: it can be written.
        let _ = error.encode(&mut Sequence::starting_at(number), &mut bytes);
        bytes
    }

    fn log(&self) {
        write_log(Level::Warn, &format!("{} ({}); {}", self.message, self.code, self.hint));
    }

    /// As a PostgreSQL client gets it. It is logged too.
    pub fn tell(&self) -> Vec<u8> {
        self.log();
        let message = format!("fieldveil: {}", self.message);
        let error = ErrorResponse::new("FATAL", self.code, message).with(ErrorResponse::HINT, self.hint);
        let mut bytes = Vec::new();
        // It is short and has no zero byte: it can be written.
        let _ = error.encode(&mut bytes);
        bytes
    }
}

/// It offers none.
pub const NO_TLS: Refusal = Refusal {
    code: "08004",
    message: "the server: it offers no TLS, and the sidecar is set to accept nothing less",
    hint: "Turn on TLS in the server, or take ssl_request out of the cluster's tls.",
};
/// It answers with an error, which is not passed on.
pub const SERVER_REFUSED: Refusal = Refusal {
    code: "08004",
    message: "the server: it answers the request for TLS with an error",
    hint: "Look into the server's log.",
};
/// Bytes that whoever stands in between may have added.
pub const PLAINTEXT: Refusal = Refusal {
    code: "08006",
    message: "the server: it sends bytes in plain text where TLS has to begin",
    hint: "Look for what stands between the sidecar and the server.",
};
/// It answers anything else.
pub const BAD_SERVER: Refusal = Refusal {
    code: "08006",
    message: "the server: it does not answer a request for TLS as PostgreSQL does",
    hint: "Look whether the cluster's address is that of a PostgreSQL server.",
};
/// It is gone.
pub const DISCONNECTED: Refusal = Refusal {
    code: "08006",
    message: "the server: it closed the connection before TLS began",
    hint: "Look into the server's log.",
};
/// Envoy did not take the order to begin.
pub const NOT_STARTTLS: Refusal = Refusal {
    code: "08001",
    message: "the sidecar: the cluster of this listener can not begin TLS",
    hint: "Give the cluster the transport socket starttls, as deploy/envoy/common.yaml.j2 does.",
};
/// The deadline has passed.
pub const TOO_SLOW: Refusal = Refusal {
    code: "08001",
    message: "the server: TLS did not begin in time",
    hint: "Look into the server's log, and for what stands between the sidecar and the server.",
};
