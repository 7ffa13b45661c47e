//! A message of the server before its first ReadyForQuery.

use fieldveil_postgres_wire::Header;
use fieldveil_postgres_wire::backend::Tag;
use fieldveil_postgres_wire::frame::HEADER_LEN;

use crate::database::{MAX_HELD, Step};
use crate::postgres::server::MALFORMED;

/// The next message of the server.
pub enum LoginMessage<'m> {
    /// It is not whole yet, or passes unread.
    Unread(Step),
    /// Its kind and its body.
    Whole(Tag, &'m [u8]),
}

impl<'m> LoginMessage<'m> {
    /// Reads the message that the bytes begin with.
    pub fn read(rest: &'m [u8]) -> Result<Self, &'static str> {
        let Some(header) = Header::peek(rest).map_err(|_| MALFORMED)? else {
            return Ok(Self::Unread(Step::More));
        };
        let tag = Tag::of(header.tag).ok_or("an unknown message type")?;
        if matches!(tag, Tag::NoticeResponse | Tag::NotificationResponse) {
            return Ok(Self::Unread(Step::Pass(header.total_len())));
        }
        match rest.get(HEADER_LEN..header.total_len()) {
            Some(body) => Ok(Self::Whole(tag, body)),
            None if header.total_len() <= MAX_HELD => Ok(Self::Unread(Step::More)),
            None => Err("a message too long to be read"),
        }
    }
}
