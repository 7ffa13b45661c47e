//! ReadyForQuery: the server waits for the next request.

use super::Tag;
use crate::WireError;
use crate::frame::write_message;
use crate::read::Reader;

const MESSAGE: &str = "ReadyForQuery";

/// Where the session is in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionStatus {
    /// In none (`I`).
    Idle,
    /// In one (`T`).
    InTransaction,
    /// In one that failed and only ROLLBACK ends (`E`).
    Failed,
}

impl TransactionStatus {
    /// The byte on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Idle => b'I',
            Self::InTransaction => b'T',
            Self::Failed => b'E',
        }
    }
}

/// ReadyForQuery: the server waits for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyForQuery {
    /// Where the session is in a transaction.
    pub status: TransactionStatus,
}

impl ReadyForQuery {
    /// Reads a body.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(MESSAGE, body);
        let status = match reader.u8("transaction status")? {
            b'I' => TransactionStatus::Idle,
            b'T' => TransactionStatus::InTransaction,
            b'E' => TransactionStatus::Failed,
            _ => return Err(WireError::UnknownCode { message: MESSAGE, what: "transaction status" }),
        };
        reader.end()?;
        Ok(Self { status })
    }

    /// Appends the whole message.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        write_message(out, Tag::ReadyForQuery, |out| out.push(self.status.code()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, check_truncations};

    #[test]
    fn ready_for_query_comes_back_as_written() {
        for (status, expected) in [
            (TransactionStatus::Idle, b"I"),
            (TransactionStatus::InTransaction, b"T"),
            (TransactionStatus::Failed, b"E"),
        ] {
            let body = body_of(Tag::ReadyForQuery, |out| ReadyForQuery { status }.encode(out));
            assert_eq!(body, expected);
            assert_eq!(ReadyForQuery::parse(&body), Ok(ReadyForQuery { status }));
            check_truncations(&body, |body| ReadyForQuery::parse(body).map(drop));
        }
    }

    #[test]
    fn unknown_status_and_bytes_left_over_are_malformed() {
        assert!(ReadyForQuery::parse(b"X").is_err());
        assert!(ReadyForQuery::parse(b"II").is_err());
    }
}
