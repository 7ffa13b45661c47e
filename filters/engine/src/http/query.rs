//! Protected values outside bodies: parameters of the query, segments of the path, and headers.
//!
//! They are what a service looks for, so each becomes what the service stores for the value. All other bytes stay as
//! they came: a signature over the rest of the target, and a spelling that a service is used to, stay good.

use std::borrow::Cow;
use std::sync::Arc;

use super::problem::Problem;
use super::search_budget::SearchBudget;
use super::treat::Context;
use crate::field::CompiledField;

/// The target to forward in place of `target`, path and query as they came; `None` if it stays. `segments` are counted
/// from 0 behind the first slash, empty ones too.
pub fn seal_target(
    ctx: &Context,
    budget: &mut SearchBudget,
    target: &[u8],
    query: &[(String, Arc<CompiledField>)],
    segments: &[(usize, Arc<CompiledField>)],
) -> Result<Option<Vec<u8>>, Problem> {
    if query.is_empty() && segments.is_empty() {
        return Ok(None);
    }
    let (path, parameters) = match split_once(target, b'?') {
        Some((path, parameters)) => (path, Some(parameters)),
        None => (target, None),
    };
    let mut sealed = Vec::with_capacity(target.len());
    seal_path(ctx, budget, path, segments, &mut sealed)?;
    if let Some(parameters) = parameters {
        sealed.push(b'?');
        seal_query(ctx, budget, parameters, query, &mut sealed)?;
    }
    Ok((sealed != target).then_some(sealed))
}

/// The value to forward in place of one occurrence of a header. White space around it is no part of the value.
pub fn seal_header(
    ctx: &Context,
    budget: &mut SearchBudget,
    field: &CompiledField,
    value: &[u8],
) -> Result<Vec<u8>, Problem> {
    budget.search(ctx, field, trim(value))
}

/// The names of a target's parameters, decoded.
pub(super) fn parameter_names(target: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let parameters = split_once(target, b'?').map_or(&[][..], |(_, parameters)| parameters);
    parameters.split(|byte| matches!(byte, b'&' | b';')).map(|parameter| {
        let name = split_once(parameter, b'=').map_or(parameter, |(name, _)| name);
        decoded(name, Plus::IsSpace).unwrap_or(Cow::Borrowed(name))
    })
}

fn seal_path(
    ctx: &Context,
    budget: &mut SearchBudget,
    path: &[u8],
    segments: &[(usize, Arc<CompiledField>)],
    sealed: &mut Vec<u8>,
) -> Result<(), Problem> {
    let rest = path.strip_prefix(b"/").unwrap_or(path);
    sealed.extend_from_slice(path.strip_suffix(rest).unwrap_or_default());
    for (index, segment) in rest.split(|byte| *byte == b'/').enumerate() {
        if index > 0 {
            sealed.push(b'/');
        }
        let field = segments.iter().find(|(known, _)| *known == index).map(|(_, field)| field);
        let Some(field) = field.filter(|_| !segment.is_empty()) else {
            sealed.extend_from_slice(segment);
            continue;
        };
        // What stands behind a semicolon are parameters of the segment (RFC 3986, section 3.3).
        let end = segment.iter().position(|byte| *byte == b';').unwrap_or(segment.len());
        let (value, parameters) = segment.split_at_checked(end).unwrap_or((segment, &[]));
        let value = decoded(value, Plus::IsPlus).ok_or_else(|| {
            Problem::ambiguous_target("a segment of its path has a percent sign that encodes nothing")
        })?;
        encode(&budget.search(ctx, field, &value)?, sealed);
        sealed.extend_from_slice(parameters);
    }
    Ok(())
}

fn seal_query(
    ctx: &Context,
    budget: &mut SearchBudget,
    parameters: &[u8],
    query: &[(String, Arc<CompiledField>)],
    sealed: &mut Vec<u8>,
) -> Result<(), Problem> {
    let field_of = |name: &[u8]| {
        // A name that nothing decodes is what it looks like.
        let name = decoded(name, Plus::IsSpace).unwrap_or(Cow::Borrowed(name));
        query.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(&name)).map(|(_, field)| field)
    };
    for (index, parameter) in parameters.split(|byte| *byte == b'&').enumerate() {
        if index > 0 {
            sealed.push(b'&');
        }
        // To some services a semicolon ends a parameter too.
        let mut behind = parameter.split(|byte| *byte == b';').skip(1);
        if behind.any(|part| field_of(split_once(part, b'=').map_or(part, |(name, _)| name)).is_some()) {
            let reason = "a protected parameter of its query stands behind a semicolon, which not every service takes for the end of another";
            return Err(Problem::ambiguous_target(reason));
        }
        let found =
            split_once(parameter, b'=').and_then(|(name, value)| Some((name, value, field_of(name)?)));
        let Some((name, value, field)) = found else {
            sealed.extend_from_slice(parameter);
            continue;
        };
        let value = decoded(value, Plus::IsSpace).ok_or_else(|| {
            Problem::ambiguous_target(
                "a protected parameter of its query has a percent sign that encodes nothing",
            )
        })?;
        sealed.extend_from_slice(name);
        sealed.push(b'=');
        encode(&budget.search(ctx, field, &value)?, sealed);
    }
    Ok(())
}

/// What a plus stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plus {
    /// Itself, as in a path.
    IsPlus,
    /// A space, as in a query.
    IsSpace,
}

/// The bytes that a part of a target stands for; `None` if a percent sign is not followed by two hexadecimal digits.
fn decoded(part: &[u8], plus: Plus) -> Option<Cow<'_, [u8]>> {
    let is_special = |byte: &u8| *byte == b'%' || (*byte == b'+' && plus == Plus::IsSpace);
    if !part.iter().any(is_special) {
        return Some(Cow::Borrowed(part));
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part;
    loop {
        rest = match rest {
            [] => return Some(Cow::Owned(bytes)),
            [b'%', high, low, rest @ ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
                bytes.push((digit(high)? << 4) | digit(low)?);
                rest
            }
            [b'%', ..] => return None,
            [b'+', rest @ ..] if plus == Plus::IsSpace => {
                bytes.push(b' ');
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

/// Writes bytes so that they stand for themselves wherever they stand in a target: all but RFC 3986's unreserved
/// characters encoded.
fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(*byte);
            continue;
        }
        let digits = [byte >> 4, byte & 15].map(|digit| HEX.get(usize::from(digit)).copied().unwrap_or(b'0'));
        out.push(b'%');
        out.extend_from_slice(&digits);
    }
}

fn split_once(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = bytes.iter().position(|byte| *byte == at)?;
    let (before, rest) = bytes.split_at_checked(position)?;
    Some((before, rest.get(1..)?))
}

/// Without the optional white space of RFC 9110, section 5.6.3.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
