//! `/*fieldveil.purpose='refund',fieldveil.token='eyJ…'*/`: comments as sqlcommenter writes them, a list of keys and
//! values, both URL-encoded.

use std::ops::Range;

use zeroize::Zeroizing;

use super::{Identity, PURPOSE, TOKEN, misplaced, occurs_anywhere};
use crate::{lex, refusal::Refusal};

/// What the comments of a text say of the end user. It holds a token: no `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Comment {
    /// Nothing.
    #[default]
    Nothing,
    /// This; what is not said is empty.
    Says {
        /// `fieldveil.purpose`
        purpose: String,
        /// `fieldveil.token`
        token: Zeroizing<String>,
    },
    /// Something that is not understood.
    Malformed,
}

/// Reads all comments. One that may hold a token and isn't understood is refused.
pub(super) fn read(
    text: &str,
    comments: &[lex::CommentToken],
    identity: &mut Identity,
) -> Result<(), Refusal> {
    let mut said = CommentFields::default();
    let mut malformed = false;
    for comment in comments {
        let inner = text.get(comment.inner.clone()).unwrap_or_default();
        // The dot may be URL-encoded too.
        if ![PURPOSE, TOKEN, "fieldveil%2e"].iter().any(|word| occurs_anywhere(inner.as_bytes(), word)) {
            continue;
        }
        let understood = comment.block && said.take(inner, comment.inner.start).is_some();
        if !understood
            && (occurs_anywhere(inner.as_bytes(), TOKEN) || occurs_anywhere(inner.as_bytes(), "%2etoken"))
        {
            return Err(misplaced(
                "a comment names fieldveil.token and is not of the form /*fieldveil.token='…'*/",
            ));
        }
        // What a line comment says of the purpose is prose.
        malformed |= !understood && comment.block;
    }
    identity.comment_tokens = said.token_at;
    identity.comment = match (malformed, said.purpose, said.token) {
        (true, _, _) => Comment::Malformed,
        (false, None, None) => Comment::Nothing,
        (false, purpose, token) => {
            Comment::Says { purpose: purpose.unwrap_or_default(), token: token.unwrap_or_default() }
        }
    };
    Ok(())
}

#[derive(Default)]
struct CommentFields {
    purpose: Option<String>,
    token: Option<Zeroizing<String>>,
    token_at: Vec<Range<usize>>,
}

impl CommentFields {
    /// `key='value',key='value'`; None where it isn't that, or says one thing twice.
    fn take(&mut self, inner: &str, offset: usize) -> Option<()> {
        let mut at = 0_usize;
        loop {
            let rest = inner.get(at..)?;
            let (key, behind) = rest.split_once('=')?;
            let key = decode(key.trim())?;
            let behind = behind.trim_start().strip_prefix('\'')?;
            let length = closing_quote(behind)?;
            let value = behind.get(..length)?;
            let start = inner.len().saturating_sub(behind.len());
            at = start.saturating_add(length).saturating_add(1);
            match key.as_str() {
                PURPOSE if self.purpose.is_none() => self.purpose = Some(decode(value)?),
                TOKEN if self.token.is_none() => {
                    self.token = Some(Zeroizing::new(decode(value)?));
                    let start = start.saturating_add(offset);
                    self.token_at.push(start..start.saturating_add(length));
                }
                key if key.to_ascii_lowercase().starts_with("fieldveil") => return None,
                _ => {}
            }
            let rest = inner.get(at..)?.trim_start();
            if rest.is_empty() {
                return Some(());
            }
            let rest = rest.strip_prefix(',')?;
            at = inner.len().saturating_sub(rest.len());
        }
    }
}

/// Where the value ends: at the first quote without a backslash before it.
fn closing_quote(value: &str) -> Option<usize> {
    let mut escaped = false;
    value.bytes().position(|byte| {
        let closes = byte == b'\'' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// URL-decoded; None where it isn't URL-encoded text, or holds a control character.
fn decode(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'%' => {
                let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
                let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| plain)?);
                rest = behind.get(2..)?;
            }
            // sqlcommenter escapes quotes so.
            b'\\' if behind.first() == Some(&b'\'') => {}
            byte if byte.is_ascii_graphic() => bytes.push(*byte),
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}
