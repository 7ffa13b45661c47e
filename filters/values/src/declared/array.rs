//! Arrays as values of a declared type. Their canonical text is what the server prints: elements too, so those of
//! `char(n)` with their spaces.

use std::borrow::Cow;

use crate::array::{Array, MAX_BYTES, binary, parse_binary, text};
use crate::kind::Kind;
use crate::value_use::ValueUse;
use crate::{ValueError, oid};

pub(crate) fn canonicalize(
    kind: Kind,
    use_: ValueUse,
    given: &[u8],
    most: usize,
) -> Result<Vec<u8>, ValueError> {
    let most = most.min(MAX_BYTES);
    let canonical = canonical(text::parse(given)?, kind, use_, most)?;
    let printed = text::print(&canonical);
    // Braces, commas and quotes: no more than some bytes for each element and each of its bytes.
    if printed.len() > most { Err(ValueError::LongText(most)) } else { Ok(printed) }
}

pub(crate) fn encode_binary(kind: Kind, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
    let array = text::parse(canonical)?.map(|element| kind.encode_binary(&element))?;
    binary::print(kind.oid(), &array)
}

/// The text of a parameter for a column of arrays of this type.
pub(crate) fn read_parameter(
    kind: Kind,
    use_: ValueUse,
    client_oid: u32,
    binary: bool,
    bytes: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let of = |element_oid| {
        move |element: Vec<u8>| kind.read_parameter(use_, element_oid, binary, &element).map(Cow::into_owned)
    };
    let array = match (client_oid, binary) {
        // Texts are alike in both formats, and as an array's text they are read one way only.
        (oid::UNKNOWN, _) | (0, false) => return Ok(bytes.to_vec()),
        // The server assigns them, and compares no array with them.
        (oid::TEXT | oid::VARCHAR, _) if use_ == ValueUse::Store => return Ok(bytes.to_vec()),
        (0, true) => {
            let (told, array) = parse_binary(None, bytes)?;
            array.map(of(told))?
        }
        (named, _) => {
            let element_oid =
                oid::element_of(named).ok_or(ValueError::NotAssignable { from: named, to: "an array" })?;
            let array = if binary { parse_binary(Some(element_oid), bytes)?.1 } else { text::parse(bytes)? };
            array.map(of(element_oid))?
        }
    };
    Ok(text::print(&array))
}

/// The array with every element but NULL canonical, unless they come to more than `most` bytes.
fn canonical(array: Array, kind: Kind, use_: ValueUse, most: usize) -> Result<Array, ValueError> {
    let mut left = most;
    let mut canonical = |element: Vec<u8>| {
        let element = kind.canonicalize_for(use_, &element, left);
        let element = kind.encode_text(&element.map_err(|error| error.with_limit(most))?)?;
        left = left.checked_sub(element.len()).ok_or(ValueError::LongText(most))?;
        Ok(element)
    };
    let elements = array.elements.into_iter().map(|element| element.map(&mut canonical).transpose());
    Ok(Array { dimensions: array.dimensions, elements: elements.collect::<Result<_, ValueError>>()? })
}
