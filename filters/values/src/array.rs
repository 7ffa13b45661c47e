//! Arrays: from the text and the binary form of the server's to elements, and back.
//!
//! Element bytes stay in the format of the array. Any array of up to six dimensions is read whole; what is looked
//! for in a list of values must have one dimension that begins at 1.

pub(crate) mod binary;
mod nested;
pub(crate) mod text;
mod token;

pub use self::nested::{array_parts, array_text};
use crate::ValueError;

const KIND: &str = "array";
const INVALID: ValueError = ValueError::Invalid(KIND);
/// NULL in text, in any case.
const NULL: &[u8] = b"NULL";
/// The server's `MAXDIM`.
const MAX_DIMENSIONS: usize = 6;
/// Elements of one array: each takes some 50 bytes of memory here and may take two of the message.
const MAX_ELEMENTS: usize = 65_536;
/// What the elements of one array may take together, as much as a message may hold: an `a` for a `char(10485760)`
/// takes ten million bytes.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// One element: its bytes, or NULL.
pub(crate) type Element = Option<Vec<u8>>;

/// Where a dimension begins and how many elements it has.
#[derive(Clone, Copy)]
pub(crate) struct Dimension {
    lower: i32,
    length: i32,
}

/// An array that is rectangular and whose bounds fit. No dimensions if it is empty.
pub(crate) struct Array {
    pub(crate) dimensions: Vec<Dimension>,
    pub(crate) elements: Vec<Element>,
}

impl Array {
    /// As the server would have it: an array without elements has no dimensions.
    fn new(dimensions: Vec<Dimension>, elements: Vec<Element>) -> Result<Self, ValueError> {
        if elements.is_empty() {
            return Ok(Self { dimensions: Vec::new(), elements });
        }
        // ArrayCheckBounds: the bound behind the last fits too.
        if dimensions.iter().any(|d| d.lower.checked_add(d.length).is_none()) {
            return Err(ValueError::OutOfRange(KIND));
        }
        Ok(Self { dimensions, elements })
    }

    /// The array of the same shape with every element but NULL replaced.
    pub(crate) fn map(
        self,
        replace: impl Fn(Vec<u8>) -> Result<Vec<u8>, ValueError>,
    ) -> Result<Self, ValueError> {
        Ok(Self { dimensions: self.dimensions, elements: map_elements(self.elements, replace)? })
    }

    /// The elements of a list, which is all that `= ANY` looks at.
    pub(crate) fn into_list(self) -> Result<Vec<Element>, ValueError> {
        match self.dimensions.as_slice() {
            [] | [Dimension { lower: 1, .. }] => Ok(self.elements),
            _ => Err(ValueError::Unsupported("lists of more than one dimension, or that do not begin at 1")),
        }
    }
}

/// The elements with every one but NULL replaced.
pub(crate) fn map_elements(
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

/// The OID that a binary array tells for its elements, and the array. The server too refuses a binary array of other
/// elements than the parameter's type has.
pub(crate) fn parse_binary(named: Option<u32>, bytes: &[u8]) -> Result<(u32, Array), ValueError> {
    let (told, array) = binary::parse(bytes)?;
    if named.is_some_and(|named| named != told) { Err(ValueError::Invalid(KIND)) } else { Ok((told, array)) }
}

/// The elements of a one-dimensional or empty array, and the OID of their type if the array tells it: 0 in text.
///
/// Element bytes are in the format of the array. An unquoted `NULL` in text is a NULL, as with the server's default
/// `array_nulls`.
pub fn array_elements(binary: bool, bytes: &[u8]) -> Result<(u32, Vec<Element>), ValueError> {
    let (element_oid, array) = if binary { binary::parse(bytes)? } else { (0, text::parse(bytes)?) };
    Ok((element_oid, array.into_list()?))
}

/// The text of a one-dimensional array that the server reads back as these elements, each quoted.
pub fn text_array(elements: &[Element]) -> Vec<u8> {
    let mut array = vec![b'{'];
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            array.push(b',');
        }
        match element {
            Some(element) => text::quote(element, &mut array),
            None => array.extend_from_slice(NULL),
        }
    }
    array.push(b'}');
    array
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::oid;

    fn list(text: &str) -> Result<Vec<Option<String>>, ValueError> {
        let (oid, elements) = array_elements(false, text.as_bytes())?;
        assert_eq!(oid, 0);
        Ok(elements.into_iter().map(|e| e.map(|e| String::from_utf8(e).unwrap_or_default())).collect())
    }

    fn some(elements: &[&str]) -> Result<Vec<Option<String>>, ValueError> {
        Ok(elements.iter().map(|e| Some((*e).to_owned())).collect())
    }

    /// A binary array of one dimension.
    pub(crate) fn binary(element_oid: u32, lower: i32, elements: &[Option<&[u8]>]) -> Vec<u8> {
        let count = i32::try_from(elements.len()).unwrap_or_default();
        let mut bytes = [1_i32.to_be_bytes(), 0_i32.to_be_bytes(), element_oid.to_be_bytes()].concat();
        bytes.extend([count.to_be_bytes(), lower.to_be_bytes()].concat());
        for element in elements {
            let length = element.map_or(-1, |e| i32::try_from(e.len()).unwrap_or_default());
            bytes.extend(length.to_be_bytes());
            bytes.extend(element.unwrap_or_default());
        }
        bytes
    }

    #[test]
    fn list_in_text_is_read_as_the_server_reads_it() {
        assert_eq!(list("{}"), some(&[]));
        assert_eq!(list(" { } "), some(&[]));
        assert_eq!(
            list("{a,\"b c\", d e ,\"\",\"x\\\"y\",a\\,b}"),
            some(&["a", "b c", "d e", "", "x\"y", "a,b"])
        );
        assert_eq!(list("{null,NULL,Null}"), Ok(vec![None, None, None]));
        assert_eq!(list("{\"NULL\",\\NULL,nullx}"), some(&["NULL", "NULL", "nullx"]));
        assert_eq!(list("{\\ a\\ }"), some(&[" a "]));
    }

    #[test]
    fn list_that_the_server_refuses_is_refused() {
        for text in [
            "",
            "a",
            "{",
            "}",
            "{a",
            "{a,}",
            "{,a}",
            "{a,,b}",
            "{a}b",
            "{\"a\"b}",
            "{a\"b\"}",
            "{a{b}}",
            "{\"a",
            "{a\\",
            "{{a},b}",
            "{a,{b}}",
            "{{a},{b,c}}",
            "{}{}",
            "{a}}",
            "{{}",
            "{{}}",
            "{{},{}}",
            "{ { } , { {} } }",
        ] {
            assert!(list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn list_with_bounds_or_more_dimensions_is_refused() {
        for text in ["[2:3]={a,b}", "{{a,b}}", "{{a},{b}}"] {
            assert!(matches!(list(text), Err(ValueError::Unsupported(_))), "{text}");
        }
        let from_zero = binary(oid::TEXT, 0, &[Some(b"a")]);
        assert!(matches!(array_elements(true, &from_zero), Err(ValueError::Unsupported(_))));
    }

    #[test]
    fn text_of_any_elements_reads_back() {
        let elements =
            ["", "a", " ", "\\", "\"", "{,}", "NULL", "ä\n日"].map(|e| Some(e.as_bytes().to_vec()));
        let elements: Vec<Element> = elements.into_iter().chain([None]).collect();
        assert_eq!(array_elements(false, &text_array(&elements)), Ok((0, elements)));
        assert_eq!(text_array(&[]), b"{}");
        assert_eq!(text_array(&[Some(b"a\"b".to_vec()), None]), b"{\"a\\\"b\",NULL}");
    }

    #[test]
    fn binary_array_that_lies_about_its_lengths_is_refused() {
        let whole = binary(oid::INT4, 1, &[Some(&[0, 0, 0, 1]), None]);
        assert_eq!(array_elements(true, &whole), Ok((oid::INT4, vec![Some(vec![0, 0, 0, 1]), None])));
        for length in 0..whole.len() {
            assert!(array_elements(true, whole.get(..length).unwrap_or_default()).is_err(), "{length}");
        }
        let mut more = whole.clone();
        more.push(0);
        assert!(array_elements(true, &more).is_err());
        for (at, byte) in [(3, 7), (7, 2), (0, 0xff), (12, 0x7f), (20, 0x7f), (20, 0x80)] {
            let mut broken = whole.clone();
            broken.splice(at..=at, [byte]);
            assert!(array_elements(true, &broken).is_err(), "{at}");
        }
    }

    #[test]
    fn array_of_more_elements_than_the_limit_is_refused() {
        let of = |count: usize| format!("{{{}1}}", "1,".repeat(count - 1));
        assert_eq!(list(&of(MAX_ELEMENTS)).map(|l| l.len()), Ok(MAX_ELEMENTS));
        assert!(matches!(list(&of(MAX_ELEMENTS + 1)), Err(ValueError::Unsupported(_))));
        let nulls = vec![None; MAX_ELEMENTS + 1];
        assert!(matches!(array_elements(true, &binary(25, 1, &nulls)), Err(ValueError::Unsupported(_))));
    }
}
