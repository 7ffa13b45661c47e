//! What must hold for any bytes at all. These functions panic where it does not.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use crate::backend::{
    Authentication, AuthenticationSasl, CommandComplete, DataRow, DataRowWriter, ErrorResponse,
    ParameterDescription, ParameterStatus, ReadyForQuery, RowDescription, Tag as Answer,
};
use crate::frame::peek_message;
use crate::frontend::{
    Bind, Close, CopyFail, Describe, Execute, Flush, Parse, Query, Sync, Tag as Request, Terminate,
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
    (Request::Bind.code(), recode!(Bind)),
    (Request::Close.code(), recode!(Close)),
    (Request::CopyFail.code(), recode!(CopyFail)),
    (Request::Describe.code(), recode!(Describe)),
    (Request::Execute.code(), recode!(Execute)),
    (Request::Flush.code(), recode!(Flush)),
    (Request::Parse.code(), recode!(Parse)),
    (Request::Query.code(), recode!(Query)),
    (Request::Sync.code(), recode!(Sync)),
    (Request::Terminate.code(), recode!(Terminate)),
];

/// What a server sends, by tag.
pub const ANSWERS: &[(u8, Recode)] = &[
    (Answer::Authentication.code(), recode!(AuthenticationSasl)),
    (Answer::CommandComplete.code(), recode!(CommandComplete)),
    (Answer::DataRow.code(), recode_row),
    (Answer::ErrorResponse.code(), recode!(ErrorResponse)),
    (Answer::ParameterDescription.code(), recode!(ParameterDescription)),
    (Answer::ParameterStatus.code(), recode!(ParameterStatus)),
    (Answer::ReadyForQuery.code(), recode!(ReadyForQuery)),
    (Answer::RowDescription.code(), recode!(RowDescription)),
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
