//! What must hold for any bytes at all. These functions panic where it does not.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use crate::backend::{
    Authentication, AuthenticationSasl, CommandComplete, DataRow, DataRowWriter, ErrorResponse,
    ParameterDescription, ParameterStatus, ReadyForQuery, RowDescription, tag as answer,
};
use crate::frame::peek_message;
use crate::frontend::{
    Bind, Close, CopyFail, Describe, Execute, Flush, Parse, Query, Sync, Terminate, tag as request,
};
use crate::startup::FirstPacket;
use crate::{Header, WireError};

/// Parses a body and encodes what it read.
pub type Recode = fn(&[u8]) -> Result<Vec<u8>, WireError>;

macro_rules! recode {
    ($message:ident) => {
        |body| {
            let message = $message::parse(body)?;
            assert!(!format!("{message:?}").contains("canary"));
            let mut out = Vec::new();
            message.encode(&mut out).map(|()| out)
        }
    };
}

/// What a client sends, by tag.
pub const REQUESTS: &[(u8, Recode)] = &[
    (request::BIND, recode!(Bind)),
    (request::CLOSE, recode!(Close)),
    (request::COPY_FAIL, recode!(CopyFail)),
    (request::DESCRIBE, recode!(Describe)),
    (request::EXECUTE, recode!(Execute)),
    (request::FLUSH, recode!(Flush)),
    (request::PARSE, recode!(Parse)),
    (request::QUERY, recode!(Query)),
    (request::SYNC, recode!(Sync)),
    (request::TERMINATE, recode!(Terminate)),
];

/// What a server sends, by tag.
pub const ANSWERS: &[(u8, Recode)] = &[
    (answer::AUTHENTICATION, recode!(AuthenticationSasl)),
    (answer::COMMAND_COMPLETE, recode!(CommandComplete)),
    (answer::DATA_ROW, recode_row),
    (answer::ERROR_RESPONSE, recode!(ErrorResponse)),
    (answer::PARAMETER_DESCRIPTION, recode!(ParameterDescription)),
    (answer::PARAMETER_STATUS, recode!(ParameterStatus)),
    (answer::READY_FOR_QUERY, recode!(ReadyForQuery)),
    (answer::ROW_DESCRIPTION, recode!(RowDescription)),
];

fn recode_row(body: &[u8]) -> Result<Vec<u8>, WireError> {
    let row = DataRow::parse(body)?;
    let mut out = Vec::new();
    let mut writer = DataRowWriter::new(&mut out, row.columns());
    row.values().try_for_each(|value| writer.push(value))?;
    writer.finish().map(|()| out)
}

/// A body in either direction: what parses comes back byte for byte. Tells whether it
/// parsed.
pub fn body(table: &[(u8, Recode)], tag: u8, body: &[u8]) -> bool {
    let Some((_, recode)) = table.iter().find(|(known, _)| *known == tag) else { return false };
    let Ok(out) = recode(body) else { return false };
    let (header, written) = peek_message(&out).unwrap().unwrap();
    assert_eq!((header.tag, written), (tag, body), "a message that parses is encoded as it came");
    true
}

/// A stream of tagged messages: each is found where the one before ended.
pub fn stream(mut bytes: &[u8], table: &[(u8, Recode)]) -> usize {
    let mut parsed = 0;
    while let Ok(Some((header, message))) = peek_message(bytes) {
        assert_eq!(Header::peek(bytes), Ok(Some(header)));
        parsed += usize::from(body(table, header.tag, message));
        bytes = &bytes[header.total_len()..];
    }
    parsed
}

/// The first packet: it is waited for, read or refused, and takes no more than is there.
pub fn first_packet(bytes: &[u8]) -> bool {
    let Ok(Some((packet, taken))) = FirstPacket::parse(bytes) else { return false };
    assert!(taken <= bytes.len());
    if let FirstPacket::Startup(message) = packet {
        let mut out = Vec::new();
        message.encode(&mut out).unwrap();
        assert_eq!(out, &bytes[..taken]);
    }
    true
}

/// The peeks, which read beginnings only.
pub fn peeks(bytes: &[u8]) {
    let _ = Authentication::peek(bytes);
    if let (Ok(bind), Ok(names)) = (Bind::parse(bytes), Bind::peek_names(bytes)) {
        assert_eq!(names, Some((bind.portal, bind.statement)));
    }
}
