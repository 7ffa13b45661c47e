//! Arrays as values of a declared type. Their canonical text is what the server prints: elements too, so those of
//! `char(n)` with their spaces.

use std::borrow::Cow;

use super::{Array, Element, KIND, binary, text};
use crate::kind::Kind;
use crate::parameter::Purpose;
use crate::types::decode_binary;
use crate::{ValueError, oid};

/// What the elements of one array may take together, as much as a message may hold: an `a` for a `char(10485760)`
/// takes ten million bytes.
const MAX_BYTES: usize = 16 << 20;

impl Array {
    /// The array of the same shape with every element but NULL replaced.
    pub(super) fn map(
        self,
        replace: impl Fn(Vec<u8>) -> Result<Vec<u8>, ValueError>,
    ) -> Result<Self, ValueError> {
        Ok(Self { dimensions: self.dimensions, elements: map(self.elements, replace)? })
    }

    /// The array with every element but NULL canonical, unless they come to more than `most` bytes.
    fn canonical(self, kind: Kind, purpose: Purpose, most: usize) -> Result<Self, ValueError> {
        let mut left = most;
        let mut canonical = |element: Vec<u8>| {
            let element = kind.canonicalize_for(purpose, &element, left);
            let element = kind.encode_text(&element.map_err(|error| error.with_limit(most))?)?;
            left = left.checked_sub(element.len()).ok_or(ValueError::LongText(most))?;
            Ok(element)
        };
        let elements = self.elements.into_iter().map(|element| element.map(&mut canonical).transpose());
        Ok(Self { dimensions: self.dimensions, elements: elements.collect::<Result<_, ValueError>>()? })
    }
}

/// The elements with every one but NULL replaced.
pub(super) fn map(
    elements: Vec<Element>,
    replace: impl Fn(Vec<u8>) -> Result<Vec<u8>, ValueError>,
) -> Result<Vec<Element>, ValueError> {
    let mut total: usize = 0;
    let mut bounded = |element: Vec<u8>| {
        let replaced = replace(element)?;
        total = total.saturating_add(replaced.len());
        if total > MAX_BYTES {
            return Err(ValueError::Unsupported("arrays whose elements take more than 16 MiB"));
        }
        Ok(replaced)
    };
    elements.into_iter().map(|element| element.map(&mut bounded).transpose()).collect()
}

pub(crate) fn canonicalize(
    kind: Kind,
    purpose: Purpose,
    given: &[u8],
    most: usize,
) -> Result<Vec<u8>, ValueError> {
    let most = most.min(MAX_BYTES);
    let canonical = text::parse(given)?.canonical(kind, purpose, most)?;
    let printed = text::print(&canonical);
    // Braces, commas and quotes: no more than some bytes for each element and each of its bytes.
    if printed.len() > most { Err(ValueError::LongText(most)) } else { Ok(printed) }
}

pub(crate) fn encode_binary(kind: Kind, canonical: &[u8]) -> Result<Vec<u8>, ValueError> {
    let array = text::parse(canonical)?.map(|element| kind.encode_binary(&element))?;
    binary::print(kind.oid(), &array)
}

/// The text of a binary array of elements of this type.
pub(crate) fn decode(element_oid: u32, bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    let array = parse_binary(Some(element_oid), bytes)?.1;
    Ok(text::print(&array.map(|element| decode_binary(element_oid, &element))?))
}

/// The text of a parameter for a column of arrays of this type.
pub(crate) fn read_parameter(
    kind: Kind,
    purpose: Purpose,
    client_oid: u32,
    binary: bool,
    bytes: &[u8],
) -> Result<Vec<u8>, ValueError> {
    let of = |element_oid| {
        move |element: Vec<u8>| {
            kind.read_parameter(purpose, element_oid, binary, &element).map(Cow::into_owned)
        }
    };
    let array = match (client_oid, binary) {
        // Texts are alike in both formats, and as an array's text they are read one way only.
        (oid::UNKNOWN, _) | (0, false) => return Ok(bytes.to_vec()),
        // The server assigns them, and compares no array with them.
        (oid::TEXT | oid::VARCHAR, _) if purpose == Purpose::Store => return Ok(bytes.to_vec()),
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

/// The OID that a binary array tells for its elements, and the array. The server too refuses a binary array of other
/// elements than the parameter's type has.
pub(super) fn parse_binary(named: Option<u32>, bytes: &[u8]) -> Result<(u32, Array), ValueError> {
    let (told, array) = binary::parse(bytes)?;
    if named.is_some_and(|named| named != told) { Err(ValueError::Invalid(KIND)) } else { Ok((told, array)) }
}
