//! COM_STMT_BULK_EXECUTE (MariaDB): executes a prepared statement for several rows of parameters. Its head alone is
//! read: the capability is not offered, so that no client sends it.

use super::CommandCode;
use crate::WireError;
use crate::read::Reader;

const MESSAGE: &str = "COM_STMT_BULK_EXECUTE";

/// The head of COM_STMT_BULK_EXECUTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StmtBulkExecute {
    /// The statement's number.
    pub statement: u32,
    /// 64 to have generated ids sent back, 128 when types come before the values.
    pub flags: u16,
}

impl StmtBulkExecute {
    /// Reads the head of a payload.
    pub fn peek(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtBulkExecute.byte())?;
        Ok(Self { statement: reader.u32("statement")?, flags: reader.u16("flags")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_read() {
        let head = StmtBulkExecute::peek(b"\xfa\x07\0\0\0\x80\0values").unwrap();
        assert_eq!(head, StmtBulkExecute { statement: 7, flags: 128 });
        assert!(StmtBulkExecute::peek(b"\xfa\x07\0\0\0\x80").is_err());
    }
}
