//! An object's keys: what they lead to, and what is kept of one that is cut.

use super::{Document, Expected, Fault, ReadStep, Text, behind_plain_string, pass};
use crate::matcher::{DEAD, StateId};
use crate::string::unescape;

impl Document {
    /// A key from its opening quote on, and the colon behind it.
    #[inline(always)]
    pub(super) fn key(&mut self, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        pass(rest);
        let begin = *rest;
        let plain = behind_plain_string(begin).map(|behind| {
            let length = begin.len().saturating_sub(behind.len()).saturating_sub(1);
            (begin.get(..length).unwrap_or_default(), behind)
        });
        let Some((key, behind)) = plain.filter(|(key, _)| key.len() <= self.limits.key_bytes) else {
            // A copy, so that the rest can stay in registers.
            let mut left = begin;
            let step = self.any_key(Text::Plain, &mut left);
            *rest = left;
            return step;
        };
        *rest = behind;
        self.next = self.plain_member(key);
        self.state = Expected::Colon;
        if rest.first() == Some(&b':') {
            pass(rest);
            self.state = Expected::Value;
        }
        Ok(ReadStep::On)
    }

    /// Any key, or what is left of one.
    #[inline(never)]
    pub(super) fn any_key(&mut self, mut text: Text, rest: &mut &[u8]) -> Result<ReadStep, Fault> {
        let begin = *rest;
        let read = text.read(rest);
        let quote = usize::from(read == Ok(true));
        let end = begin.len().saturating_sub(rest.len()).saturating_sub(quote);
        let piece = begin.get(..end).unwrap_or_default();
        // The limit comes first, so that a body fails alike wherever it is cut.
        let left = self.limits.key_bytes.saturating_sub(self.key.len());
        if piece.len() > left {
            *rest = begin.get(left..).unwrap_or_default();
            return Err(Fault::KeyBytes);
        }
        if !read? {
            self.key.extend_from_slice(piece);
            self.state = Expected::InKey(text);
            return Ok(ReadStep::On);
        }
        let next = if self.key.is_empty() {
            self.member(piece)
        } else {
            self.key.extend_from_slice(piece);
            let key = std::mem::take(&mut self.key);
            let next = self.member(&key);
            self.key = key;
            self.key.clear();
            next
        };
        let Some(next) = next else {
            *rest = begin.get(end..).unwrap_or_default();
            return Err(Fault::KeyIsNoText);
        };
        self.next = next;
        self.state = Expected::Colon;
        Ok(ReadStep::On)
    }

    /// The automaton's state for the member of this key. A key that stands for no text is refused wherever it is:
    /// readers differ in what they make of one, and some could make a field's name.
    fn member(&self, key: &[u8]) -> Option<StateId> {
        if !key.contains(&b'\\') {
            return Some(self.plain_member(key));
        }
        let mut decoded = Vec::with_capacity(key.len());
        unescape(key, &mut decoded).ok()?;
        Some(self.plain_member(&decoded))
    }

    /// The same for a key without escapes.
    #[inline(always)]
    fn plain_member(&self, key: &[u8]) -> StateId {
        let Some(level) = self.open.last() else { return DEAD };
        if self.matcher.may_name(key) { self.matcher.member(level.state, key) } else { level.other }
    }
}
