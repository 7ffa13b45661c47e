//! The text form: `{a,"b c",NULL}`, `{{1,2},{3,4}}`, `[0:1]={a,b}`, read as the server's `array_in`.

use super::token::{Reader, Token, is_space};
use super::{Array, Dimension, INVALID, KIND, MAX_DIMENSIONS, MAX_ELEMENTS, NULL};
use crate::ValueError;

/// The lengths of the levels of braces, which must agree with each other and with bounds that were given.
struct Levels {
    /// Length of each dimension, once it is known.
    lengths: Vec<Option<usize>>,
    /// No deeper level may open: an element was seen, or bounds were given.
    frozen: bool,
    /// How many elements each open level has so far.
    open: Vec<usize>,
}

impl Levels {
    fn new(given: &[Dimension]) -> Self {
        let lengths = given.iter().map(|d| usize::try_from(d.length).ok()).collect();
        Self { lengths, frozen: !given.is_empty(), open: Vec::new() }
    }

    fn open(&mut self) -> Result<(), ValueError> {
        if self.open.len() == MAX_DIMENSIONS {
            return Err(ValueError::OutOfRange(KIND));
        }
        self.open.push(0);
        if self.open.len() > self.lengths.len() {
            if self.frozen {
                return Err(INVALID);
            }
            self.lengths.push(None);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), ValueError> {
        let count = self.open.pop().ok_or(INVALID)?;
        let length = self.lengths.get_mut(self.open.len()).ok_or(INVALID)?;
        if *length.get_or_insert(count) != count {
            return Err(INVALID);
        }
        self.count();
        Ok(())
    }

    fn element(&mut self) -> Result<(), ValueError> {
        self.frozen = true;
        if self.open.len() != self.lengths.len() {
            return Err(INVALID);
        }
        self.count();
        Ok(())
    }

    fn count(&mut self) {
        if let Some(count) = self.open.last_mut() {
            *count = count.saturating_add(1);
        }
    }

    fn is_empty_level(&self) -> bool {
        self.open.last() == Some(&0)
    }
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Array, ValueError> {
    if bytes.contains(&0) {
        return Err(INVALID);
    }
    let mut reader = Reader(bytes);
    let given = reader.dimensions()?;
    if reader.peek() != Some(b'{') {
        return Err(INVALID);
    }
    let mut levels = Levels::new(&given);
    let mut elements = Vec::new();
    let mut expect_delimiter = false;
    loop {
        match (reader.token()?, expect_delimiter) {
            (Token::Open, false) => levels.open()?,
            (Token::Close, expected) if expected || levels.is_empty_level() => {
                levels.close()?;
                expect_delimiter = true;
            }
            (Token::Delimiter, true) => expect_delimiter = false,
            (Token::Element(element), false) => {
                if elements.len() == MAX_ELEMENTS {
                    return Err(ValueError::Unsupported("arrays of more than 65,536 elements"));
                }
                levels.element()?;
                elements.push(element);
                expect_delimiter = true;
            }
            _ => return Err(INVALID),
        }
        if levels.open.is_empty() {
            break;
        }
    }
    if !reader.0.iter().copied().all(is_space) {
        return Err(INVALID);
    }
    // 17 and later take it for `{}`, those before refuse it: what is stored is to be read alike everywhere.
    if elements.is_empty() && levels.lengths.len() > 1 {
        return Err(INVALID);
    }
    Array::new(dimensions(&given, &levels.lengths)?, elements)
}

/// The bounds that were given, or from 1 as long as the braces say.
fn dimensions(given: &[Dimension], lengths: &[Option<usize>]) -> Result<Vec<Dimension>, ValueError> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let dimension = |length: &Option<usize>| {
        let length = length.and_then(|length| i32::try_from(length).ok()).ok_or(INVALID)?;
        Ok(Dimension { lower: 1, length })
    };
    lengths.iter().map(dimension).collect()
}

/// Appends the element in quotes.
pub(crate) fn quote(element: &[u8], array: &mut Vec<u8>) {
    array.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            array.push(b'\\');
        }
        array.push(*byte);
    }
    array.push(b'"');
}

/// As the server's `array_out` prints it.
pub(crate) fn print(array: &Array) -> Vec<u8> {
    if array.elements.is_empty() {
        return b"{}".to_vec();
    }
    let mut printed = Vec::new();
    if array.dimensions.iter().any(|d| d.lower != 1) {
        for Dimension { lower, length } in &array.dimensions {
            let upper = lower.saturating_add(length.saturating_sub(1));
            printed.extend_from_slice(format!("[{lower}:{upper}]").as_bytes());
        }
        printed.push(b'=');
    }
    // So many elements stand within one pair of braces of each dimension, the innermost first.
    let spans: Vec<usize> = array
        .dimensions
        .iter()
        .rev()
        .scan(1_usize, |span, d| {
            *span = span.saturating_mul(usize::try_from(d.length).unwrap_or_default());
            Some(*span)
        })
        .collect();
    let braces_at = |index: usize| spans.iter().filter(|span| index.checked_rem(**span) == Some(0)).count();
    for (index, element) in array.elements.iter().enumerate() {
        if index > 0 {
            printed.push(b',');
        }
        printed.extend(std::iter::repeat_n(b'{', braces_at(index)));
        match element {
            None => printed.extend_from_slice(NULL),
            Some(element) if needs_quotes(element) => quote(element, &mut printed),
            Some(element) => printed.extend_from_slice(element),
        }
        printed.extend(std::iter::repeat_n(b'}', braces_at(index.saturating_add(1))));
    }
    printed
}

fn needs_quotes(element: &[u8]) -> bool {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'{' | b'}' | b',') || is_space(*byte);
    element.is_empty() || element.eq_ignore_ascii_case(NULL) || element.iter().any(special)
}
