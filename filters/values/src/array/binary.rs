//! The binary form: number of dimensions, whether there are NULLs, OID of the element type; length and lower bound
//! of each dimension; length and bytes of each element, or -1 for NULL.

use super::{Array, Dimension, Element, INVALID, KIND, MAX_DIMENSIONS, MAX_ELEMENTS};
use crate::ValueError;

/// Stands in place of the length of a NULL.
const NULL_LENGTH: i32 = -1;

/// What is left to read.
struct BinaryReader<'a>(&'a [u8]);

impl<'a> BinaryReader<'a> {
    fn int(&mut self) -> Result<i32, ValueError> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(INVALID)?;
        self.0 = rest;
        Ok(i32::from_be_bytes(*bytes))
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], ValueError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(INVALID)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn element(&mut self) -> Result<Element, ValueError> {
        match self.int()? {
            NULL_LENGTH => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| INVALID)?;
                Ok(Some(self.bytes(length)?.to_vec()))
            }
        }
    }
}

/// The OID of the element type, and the array.
pub(crate) fn parse(bytes: &[u8]) -> Result<(u32, Array), ValueError> {
    let mut reader = BinaryReader(bytes);
    let count = usize::try_from(reader.int()?).map_err(|_| INVALID)?;
    if count > MAX_DIMENSIONS || !matches!(reader.int()?, 0 | 1) {
        return Err(INVALID);
    }
    let element_oid = reader.int()?.cast_unsigned();
    let mut dimensions = Vec::with_capacity(count);
    // No dimensions, no elements.
    let mut total = usize::from(count > 0);
    for _ in 0..count {
        let (length, lower) = (reader.int()?, reader.int()?);
        let factor = usize::try_from(length).map_err(|_| INVALID)?;
        total = total.checked_mul(factor).ok_or(ValueError::OutOfRange(KIND))?;
        dimensions.push(Dimension { lower, length });
    }
    if total > MAX_ELEMENTS {
        return Err(ValueError::Unsupported("arrays of more than 65,536 elements"));
    }
    let elements = (0..total).map(|_| reader.element()).collect::<Result<Vec<_>, _>>()?;
    if !reader.0.is_empty() {
        return Err(INVALID);
    }
    Ok((element_oid, Array::new(dimensions, elements)?))
}

/// As the server's `array_send` prints it.
pub(crate) fn print(element_oid: u32, array: &Array) -> Result<Vec<u8>, ValueError> {
    let int = |length: usize| i32::try_from(length).map_err(|_| ValueError::OutOfRange(KIND));
    let nulls = i32::from(array.elements.iter().any(Option::is_none));
    let mut printed = Vec::new();
    printed.extend_from_slice(&int(array.dimensions.len())?.to_be_bytes());
    printed.extend_from_slice(&nulls.to_be_bytes());
    printed.extend_from_slice(&element_oid.to_be_bytes());
    for Dimension { lower, length } in &array.dimensions {
        printed.extend_from_slice(&length.to_be_bytes());
        printed.extend_from_slice(&lower.to_be_bytes());
    }
    for element in &array.elements {
        let Some(element) = element else {
            printed.extend_from_slice(&NULL_LENGTH.to_be_bytes());
            continue;
        };
        printed.extend_from_slice(&int(element.len())?.to_be_bytes());
        printed.extend_from_slice(element);
    }
    Ok(printed)
}
