//! Arrays for those who write them otherwise: the lengths of their dimensions, and their elements in order.

use super::{Array, Dimension, Element, KIND, text};
use crate::ValueError;

/// The text of an array of these dimensions from 1, outermost first; empty for an array without elements.
///
/// Elements are texts. There must be as many as the dimensions have places.
pub fn array_text(lengths: &[usize], elements: Vec<Element>) -> Result<Vec<u8>, ValueError> {
    let out_of_range = || ValueError::OutOfRange(KIND);
    let places =
        if lengths.is_empty() { Some(0) } else { lengths.iter().try_fold(1_usize, |n, l| n.checked_mul(*l)) };
    if places != Some(elements.len()) {
        return Err(out_of_range());
    }
    let dimension = |length: &usize| {
        let length = i32::try_from(*length).map_err(|_| out_of_range())?;
        Ok(Dimension { lower: 1, length })
    };
    let dimensions = lengths.iter().map(dimension).collect::<Result<_, ValueError>>()?;
    Ok(text::print(&Array::new(dimensions, elements)?))
}

/// The same of an array's text. Where dimensions begin is left out.
pub fn array_parts(text: &[u8]) -> Result<(Vec<usize>, Vec<Element>), ValueError> {
    let Array { dimensions, elements } = text::parse(text)?;
    let length = |d: Dimension| usize::try_from(d.length).map_err(|_| ValueError::OutOfRange(KIND));
    Ok((dimensions.into_iter().map(length).collect::<Result<_, _>>()?, elements))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(elements: &[&str]) -> Vec<Element> {
        elements.iter().map(|element| Some(element.as_bytes().to_vec())).collect()
    }

    #[test]
    fn array_of_any_shape_is_written_and_read_back() {
        for (lengths, elements, text) in [
            (vec![], some(&[]), "{}"),
            (vec![2], some(&["a", "b c"]), "{a,\"b c\"}"),
            (vec![2, 2], some(&["1", "2", "3", "4"]), "{{1,2},{3,4}}"),
            (vec![1, 1, 2], vec![None, Some(b"NULL".to_vec())], "{{{NULL,\"NULL\"}}}"),
        ] {
            let written = array_text(&lengths, elements.clone()).unwrap();
            assert_eq!(String::from_utf8_lossy(&written), text);
            assert_eq!(array_parts(&written), Ok((lengths, elements)));
        }
        assert_eq!(array_parts(b"[2:3]={a,b}"), Ok((vec![2], some(&["a", "b"]))));
    }

    #[test]
    fn elements_that_do_not_fill_the_dimensions_are_refused() {
        for lengths in [vec![], vec![2], vec![1, 0], vec![usize::MAX, 2]] {
            assert!(array_text(&lengths, some(&["a"])).is_err(), "{lengths:?}");
        }
    }
}
