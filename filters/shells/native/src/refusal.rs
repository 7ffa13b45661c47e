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
