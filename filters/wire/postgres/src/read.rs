//! A cursor over one message's body, which names the message and the part in every error.

use crate::WireError;
use crate::limits::MAX_NAME;

#[derive(Clone)]
pub(crate) struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'static str, body: &'a [u8]) -> Self {
        Self { message, rest: body }
    }

    pub(crate) fn message(&self) -> &'static str {
        self.message
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (head, rest) =
            self.rest.split_first_chunk::<N>().ok_or(WireError::Truncated { message: self.message, what })?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        let [byte] = self.array(what)?;
        Ok(byte)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(crate) fn i16(&mut self, what: &'static str) -> Result<i16, WireError> {
        self.array(what).map(i16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, what: &'static str) -> Result<i32, WireError> {
        self.array(what).map(i32::from_be_bytes)
    }

    /// A 16-bit count, read as unsigned as the server does, of things of at least `least` bytes each. Checked
    /// against `limit` and against the bytes present, so that a count can be trusted with an allocation.
    pub(crate) fn count(
        &mut self,
        what: &'static str,
        limit: usize,
        least: usize,
    ) -> Result<usize, WireError> {
        let count = usize::from(self.u16(what)?);
        if count > limit {
            return Err(WireError::TooMany { message: self.message, what, limit });
        }
        if count.saturating_mul(least) > self.rest.len() {
            return Err(WireError::Truncated { message: self.message, what });
        }
        Ok(count)
    }

    /// A zero-terminated string, without the zero.
    pub(crate) fn string(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let missing = WireError::MissingTerminator { message: self.message, what };
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(missing)?;
        let (string, rest) = self.rest.split_at_checked(end).ok_or(missing)?;
        self.rest = rest.split_first().map(|(_zero, rest)| rest).ok_or(missing)?;
        Ok(string)
    }

    /// A zero-terminated name of a statement or portal, bounded by [`MAX_NAME`].
    pub(crate) fn name(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        self.name_or_wait(what)?.ok_or(WireError::MissingTerminator { message: self.message, what })
    }

    /// As [`Self::name`], on the first bytes of a body that may go on: `None` when the name's end isn't there.
    pub(crate) fn name_or_wait(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, WireError> {
        let window = self.rest.get(..=MAX_NAME).unwrap_or(self.rest);
        if window.contains(&0) {
            self.string(what).map(Some)
        } else if window.len() > MAX_NAME {
            Err(WireError::TooMany { message: self.message, what: "bytes in a name", limit: MAX_NAME })
        } else {
            Ok(None)
        }
    }

    /// A value: 32-bit length, -1 for NULL, then that many bytes.
    pub(crate) fn value(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, WireError> {
        let length = self.i32(what)?;
        if length == -1 {
            return Ok(None);
        }
        let length =
            usize::try_from(length).map_err(|_| WireError::NegativeLength { message: self.message, what })?;
        let (value, rest) =
            self.rest.split_at_checked(length).ok_or(WireError::Truncated { message: self.message, what })?;
        self.rest = rest;
        Ok(Some(value))
    }

    /// The message must end here.
    pub(crate) fn end(self) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireError::TrailingBytes { message: self.message }) }
    }
}
