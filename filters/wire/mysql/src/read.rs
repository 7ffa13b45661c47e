//! A cursor over one message's payload, which names the message and the part in every error.

use crate::WireError;
use crate::lenenc::{Lenenc, NULL};

#[derive(Clone)]
pub(crate) struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(message: &'static str, payload: &'a [u8]) -> Self {
        Self { message, rest: payload }
    }

    /// A payload whose first byte tells its kind, which must be `kind`.
    pub(crate) fn of_kind(message: &'static str, payload: &'a [u8], kind: u8) -> Result<Self, WireError> {
        let mut reader = Self::new(message, payload);
        if reader.u8("kind")? != kind {
            return Err(WireError::UnknownCode { message, what: "kind" });
        }
        Ok(reader)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn truncated(&self, what: &'static str) -> WireError {
        WireError::Truncated { message: self.message, what }
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(self.truncated(what))?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn bytes(&mut self, what: &'static str, length: usize) -> Result<&'a [u8], WireError> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(self.truncated(what))?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        let [byte] = self.array(what)?;
        Ok(byte)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// A zero-terminated string, without the zero.
    pub(crate) fn string(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let missing = WireError::MissingTerminator { message: self.message, what };
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or(missing)?;
        let string = self.bytes(what, end)?;
        self.u8(what)?;
        Ok(string)
    }

    /// A length-encoded integer.
    pub(crate) fn lenenc(&mut self, what: &'static str) -> Result<u64, WireError> {
        match Lenenc::peek(self.rest) {
            Some(Lenenc::Integer { value, len }) => {
                self.bytes(what, len)?;
                Ok(value)
            }
            Some(Lenenc::Null | Lenenc::Invalid) => {
                Err(WireError::InvalidLength { message: self.message, what })
            }
            None => Err(self.truncated(what)),
        }
    }

    /// A length-encoded count of things of at least `least` bytes each. Checked against `limit` and against the
    /// bytes present, so that it can be trusted with an allocation.
    pub(crate) fn count(
        &mut self,
        what: &'static str,
        limit: usize,
        least: usize,
    ) -> Result<usize, WireError> {
        let too_many = WireError::TooMany { message: self.message, what, limit };
        let count = usize::try_from(self.lenenc(what)?).map_err(|_| too_many)?;
        if count > limit {
            return Err(too_many);
        }
        if count.saturating_mul(least) > self.rest.len() {
            return Err(self.truncated(what));
        }
        Ok(count)
    }

    /// A length-encoded string.
    pub(crate) fn lenenc_string(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(self.lenenc(what)?).map_err(|_| self.truncated(what))?;
        self.bytes(what, length)
    }

    /// A length-encoded string, or the byte that stands for NULL.
    pub(crate) fn nullable_string(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, WireError> {
        if self.rest.first() == Some(&NULL) {
            self.u8(what)?;
            return Ok(None);
        }
        self.lenenc_string(what).map(Some)
    }

    /// What is left, to the message's end.
    pub(crate) fn remainder(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The message must end here.
    pub(crate) fn end(self) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireError::TrailingBytes { message: self.message }) }
    }
}
