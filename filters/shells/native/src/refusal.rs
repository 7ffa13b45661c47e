//! What a PostgreSQL client is told of TLS that can not begin.

use fieldveil_engine::ports::Level;
use fieldveil_postgres_wire::backend::ErrorResponse;

use crate::log::write_log;

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
    /// As the client gets it. It is logged too.
    pub fn tell(&self) -> Vec<u8> {
        write_log(Level::Warn, &format!("{} ({}); {}", self.message, self.code, self.hint));
        let message = format!("fieldveil: {}", self.message);
        let error = ErrorResponse::new("FATAL", self.code, message).with(ErrorResponse::HINT, self.hint);
        let mut bytes = Vec::new();
        // It is short and has no zero byte: it can be written.
        let _ = error.encode(&mut bytes);
        bytes
    }
}
