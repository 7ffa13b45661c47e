//! Telling a server's packets apart, which their first byte and their length do together with what was asked.

use super::{EofPacket, ErrPacket, LocalInfileRequest, OkPacket};
use crate::packet::MAX_PAYLOAD;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "answer";

/// The first packet in answer to COM_QUERY or COM_STMT_EXECUTE, and of every further result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstPacket {
    /// [`OkPacket`]: no rows.
    Ok,
    /// [`ErrPacket`].
    Err,
    /// [`LocalInfileRequest`]: a file is wanted.
    LocalInfile,
    /// [`super::ColumnCount`]: a result set begins.
    ColumnCount,
}

impl FirstPacket {
    /// Tells by the first byte of a payload.
    pub fn of(payload: &[u8]) -> Result<Self, WireError> {
        let empty = WireError::Truncated { message: MESSAGE, what: "kind" };
        match *payload.first().ok_or(empty)? {
            OkPacket::HEADER => Ok(Self::Ok),
            ErrPacket::HEADER => Ok(Self::Err),
            LocalInfileRequest::HEADER => Ok(Self::LocalInfile),
            EofPacket::HEADER => Err(WireError::UnknownCode { message: MESSAGE, what: "kind" }),
            _ => Ok(Self::ColumnCount),
        }
    }
}

/// A packet where rows (or the definitions of COM_FIELD_LIST) come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPacket {
    /// Another row.
    Row,
    /// [`OkPacket`] with the first byte 0xFE: the rows end, with CLIENT_DEPRECATE_EOF.
    Ok,
    /// [`EofPacket`]: the rows end, without it.
    Eof,
    /// [`ErrPacket`]: the rows end by an error.
    Err,
}

impl RowPacket {
    /// Tells by the first byte of a payload and by the payload's length in this (first) packet: a row may begin with
    /// 0xFE too, but only when a value of 16 MiB and more makes it fill the packet.
    pub fn of(first: Option<u8>, payload_len: usize, capabilities: Capabilities) -> Result<Self, WireError> {
        match first.ok_or(WireError::Truncated { message: MESSAGE, what: "kind" })? {
            ErrPacket::HEADER => Ok(Self::Err),
            EofPacket::HEADER if payload_len >= MAX_PAYLOAD => Ok(Self::Row),
            EofPacket::HEADER if capabilities.has(Capabilities::DEPRECATE_EOF) => Ok(Self::Ok),
            EofPacket::HEADER if payload_len < 9 => Ok(Self::Eof),
            EofPacket::HEADER => Err(WireError::UnknownCode { message: MESSAGE, what: "kind" }),
            _ => Ok(Self::Row),
        }
    }

    /// As [`Self::of`], for a whole payload.
    pub fn of_payload(payload: &[u8], capabilities: Capabilities) -> Result<Self, WireError> {
        Self::of(payload.first().copied(), payload.len(), capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_packets_are_told_apart() {
        for (payload, kind) in [
            (&b"\0\0\0\x02\0\0\0"[..], FirstPacket::Ok),
            (b"\xff\x76\x04#42000no", FirstPacket::Err),
            (b"\xfbfile", FirstPacket::LocalInfile),
            (b"\x03", FirstPacket::ColumnCount),
            (b"\xfc\x2c\x01", FirstPacket::ColumnCount),
        ] {
            assert_eq!(FirstPacket::of(payload), Ok(kind));
        }
        assert!(FirstPacket::of(b"").is_err() && FirstPacket::of(b"\xfe").is_err());
    }

    #[test]
    fn ends_of_rows_are_told_from_rows() {
        let (old, new) = (Capabilities::NONE, Capabilities::DEPRECATE_EOF);
        for (first, length, capabilities, kind) in [
            (0xfe, 5, old, RowPacket::Eof),
            (0xfe, 7, new, RowPacket::Ok),
            (0xfe, 70_000, new, RowPacket::Ok),
            (0xfe, MAX_PAYLOAD, new, RowPacket::Row),
            (0xfe, MAX_PAYLOAD, old, RowPacket::Row),
            (0xff, 9, new, RowPacket::Err),
            (0xfb, 1, old, RowPacket::Row),
            (0x00, 7, new, RowPacket::Row),
        ] {
            assert_eq!(RowPacket::of(Some(first), length, capabilities), Ok(kind));
        }
        assert!(RowPacket::of(Some(0xfe), 9, old).is_err() && RowPacket::of(None, 0, old).is_err());
    }
}
