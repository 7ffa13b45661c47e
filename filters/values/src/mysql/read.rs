//! What a client gives, as canonical text.

use std::borrow::Cow;

use super::assign::Place;
use super::given::Given;
use super::{Settings, column};
use crate::kind::Kind;
use crate::{DeclaredType, ValueError, ValueUse};

/// The canonical text of a parameter of COM_STMT_EXECUTE, as the server in strict mode would assign it to a column of
/// this type, or compare it with one.
///
/// `type_code` and `unsigned` are what the client named; `bytes` is the value without its length. Long data, and what
/// stands in a column, is a string (253).
pub fn read_parameter<'v>(
    declared: &DeclaredType,
    settings: &Settings,
    use_: ValueUse,
    type_code: u8,
    unsigned: bool,
    bytes: &'v [u8],
) -> Result<Cow<'v, [u8]>, ValueError> {
    let kind = column::kind(declared)?;
    Place { kind, use_, settings }.assign(&Given::decode(type_code, unsigned, bytes)?)
}

/// The canonical text of a literal: of a string's characters, or of a number without an exponent as it is written.
/// TRUE and FALSE are `1` and `0`. The bytes of a `bytea` are given in its canonical text, whatever they were written
/// as.
pub fn read_literal(
    declared: &DeclaredType,
    settings: &Settings,
    use_: ValueUse,
    text: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let kind = column::kind(declared)?;
    if matches!(kind, Kind::Bytea(_)) {
        return match text.starts_with(b"\\x") {
            true => kind.canonicalize_for(use_, text, usize::MAX).map(Cow::into_owned),
            false => Err(ValueError::Invalid("bytea")),
        };
    }
    let text = std::str::from_utf8(text).map_err(|_| ValueError::Invalid("UTF-8 text"))?;
    Place { kind, use_, settings }.text(text).map(Cow::into_owned)
}
