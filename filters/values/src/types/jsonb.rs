//! `jsonb`: as the server prints it. Keys are sorted by length, then by bytes; of equal keys the last stays;
//! numbers are as `numeric` has them; escapes are resolved.
//!
//! It is read twice: the objects' keys are put in order first, then all is printed in that order, each byte once however
//! deep it stands.

mod scan;

use super::numeric;
use crate::ValueError;
use scan::Scanner;

const KIND: &str = "jsonb";
const INVALID: ValueError = ValueError::Invalid(KIND);
/// How deep arrays and objects may stand in each other: each level takes stack.
const MAX_DEPTH: usize = 128;
/// Keys in one value: each takes some 50 bytes of memory here and may take five of the text.
const MAX_KEYS: usize = 262_144;
/// What may be printed for one value, as much as a message may hold: `1e4096` prints 4,097 digits.
const MAX_BYTES: usize = 16 << 20;
/// The version that begins the binary form.
const VERSION: u8 = 1;

/// An object in the text: where it begins and where it ends, and what it holds, in the order in which that is printed.
#[derive(Default)]
struct Object {
    start: usize,
    end: usize,
    entries: Vec<Entry>,
}

/// A key, and where its value begins in the text.
struct Entry {
    key: String,
    value: usize,
}

/// Checks the text and looks for its objects.
struct Indexer<'a> {
    given: Scanner<'a>,
    /// In the order in which they begin.
    objects: Vec<Object>,
    keys: usize,
}

impl Indexer<'_> {
    fn value(&mut self, depth: usize) -> Result<(), ValueError> {
        self.given.skip_space();
        let nested = |depth: usize| match depth.checked_add(1) {
            Some(depth) if depth <= MAX_DEPTH => Ok(depth),
            _ => Err(ValueError::Unsupported("jsonb of more than 128 levels")),
        };
        match self.given.peek().ok_or(INVALID)? {
            b'{' => self.object(nested(depth)?),
            b'[' => self.array(nested(depth)?),
            b'"' => self.given.string().map(drop),
            // The number of a key that comes again is not printed, and has to be one all the same.
            b'-' | b'0'..=b'9' => numeric::check(self.given.number()?),
            _ => self.given.word().map(drop),
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), ValueError> {
        self.given.expect(b'[')?;
        self.given.skip_space();
        if self.given.take(b']') {
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.given.skip_space();
            if self.given.take(b']') {
                return Ok(());
            }
            self.given.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), ValueError> {
        let (index, start) = (self.objects.len(), self.given.offset());
        self.objects.push(Object::default());
        let mut entries = Vec::new();
        self.given.expect(b'{')?;
        self.given.skip_space();
        if !self.given.take(b'}') {
            loop {
                entries.push(self.entry(depth)?);
                self.given.skip_space();
                if self.given.take(b'}') {
                    break;
                }
                self.given.expect(b',')?;
            }
        }
        // Equal keys stay in the order in which they came, so that the last of them can.
        entries.sort_by(|a, b| (a.key.len(), &a.key).cmp(&(b.key.len(), &b.key)));
        entries.dedup_by(|later, kept| {
            let is_same = later.key == kept.key;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        let object = Object { start, end: self.given.offset(), entries };
        self.objects.get_mut(index).map(|place| *place = object).ok_or(INVALID)
    }

    fn entry(&mut self, depth: usize) -> Result<Entry, ValueError> {
        self.keys = self.keys.saturating_add(1);
        if self.keys > MAX_KEYS {
            return Err(ValueError::Unsupported("jsonb of more than 262,144 keys"));
        }
        self.given.skip_space();
        let key = self.given.string()?;
        self.given.skip_space();
        self.given.expect(b':')?;
        let value = self.given.offset();
        self.value(depth)?;
        Ok(Entry { key, value })
    }
}

/// Prints a text that was checked.
struct Printer<'a> {
    text: &'a str,
    objects: &'a [Object],
    printed: String,
    most: usize,
}

impl<'a> Printer<'a> {
    fn push(&mut self, text: &str) -> Result<(), ValueError> {
        if self.printed.len().saturating_add(text.len()) > self.most {
            return Err(ValueError::LongText(self.most));
        }
        self.printed.push_str(text);
        Ok(())
    }

    fn value(&mut self, given: &mut Scanner<'a>) -> Result<(), ValueError> {
        given.skip_space();
        match given.peek().ok_or(INVALID)? {
            b'{' => {
                let end = self.object(given.offset())?;
                *given = Scanner::at(self.text, end);
                Ok(())
            }
            b'[' => self.array(given),
            b'"' => self.push(&quoted(&given.string()?)),
            b'-' | b'0'..=b'9' => self.push(&numeric::canonicalize(given.number()?, None)?),
            _ => self.push(given.word()?),
        }
    }

    fn array(&mut self, given: &mut Scanner<'a>) -> Result<(), ValueError> {
        given.expect(b'[')?;
        self.push("[")?;
        given.skip_space();
        if !given.take(b']') {
            loop {
                self.value(given)?;
                given.skip_space();
                if given.take(b']') {
                    break;
                }
                given.expect(b',')?;
                self.push(", ")?;
            }
        }
        self.push("]")
    }

    /// Prints the object that begins there, and gives its end.
    fn object(&mut self, start: usize) -> Result<usize, ValueError> {
        let objects = self.objects;
        let index = objects.binary_search_by_key(&start, |object| object.start).map_err(|_| INVALID)?;
        let object = objects.get(index).ok_or(INVALID)?;
        self.push("{")?;
        for (index, entry) in object.entries.iter().enumerate() {
            if index > 0 {
                self.push(", ")?;
            }
            self.push(&quoted(&entry.key))?;
            self.push(": ")?;
            self.value(&mut Scanner::at(self.text, entry.value))?;
        }
        self.push("}")?;
        Ok(object.end)
    }
}

/// A string as the server's `escape_json` prints it.
fn quoted(string: &str) -> String {
    let mut quoted = String::with_capacity(string.len().saturating_add(2));
    quoted.push('"');
    for c in string.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\0'..' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The value as the server prints it, in no more than `most` bytes.
pub(crate) fn canonicalize(text: &str, most: usize) -> Result<String, ValueError> {
    let mut indexer = Indexer { given: Scanner::at(text, 0), objects: Vec::new(), keys: 0 };
    indexer.value(0)?;
    indexer.given.skip_space();
    if indexer.given.peek().is_some() {
        return Err(INVALID);
    }
    let most = most.min(MAX_BYTES);
    let mut printer = Printer { text, objects: &indexer.objects, printed: String::new(), most };
    printer.value(&mut Scanner::at(text, 0))?;
    Ok(printer.printed)
}

/// A version byte, then text.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    [&[VERSION], text.as_bytes()].concat()
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<u8>, ValueError> {
    match bytes {
        [VERSION, text @ ..] => Ok(text.to_vec()),
        _ => Err(INVALID),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<String, ValueError> {
        canonicalize(text, usize::MAX)
    }

    #[test]
    fn value_that_would_take_too_much_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(all(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(all(&nested(MAX_DEPTH + 1)), Err(ValueError::Unsupported(_))));
        assert!(matches!(all(&"[".repeat(1 << 20)), Err(ValueError::Unsupported(_))));
        let large = format!("[{}1]", "1e4000,".repeat(5000));
        assert_eq!(all(&large), Err(ValueError::LongText(MAX_BYTES)));
        let keys = |count: usize| format!("{{{}\"\":1}}", "\"\":1,".repeat(count - 1));
        assert_eq!(all(&keys(MAX_KEYS)).as_deref(), Ok("{\"\": 1}"));
        assert!(matches!(all(&keys(MAX_KEYS + 1)), Err(ValueError::Unsupported(_))));
    }

    #[test]
    fn objects_in_objects_are_ordered_at_every_level() {
        let given =
            r#" {"bb":{"y":[{"z":1,"a":2}],"x":{}} ,"a":1.50,"bb":[ ],"c":{"y":1e2,"x":"\u00e4\/"}} "#;
        let printed = r#"{"a": 1.50, "c": {"x": "ä/", "y": 100}, "bb": []}"#;
        assert_eq!(all(given).as_deref(), Ok(printed));
    }

    #[test]
    fn what_is_printed_is_counted_while_it_is_printed() {
        let printed = r#"{"a": 100, "bb": [1, 2]}"#;
        let given = r#"{"bb":[1,2],"a":1e2}"#;
        assert_eq!(canonicalize(given, printed.len()).as_deref(), Ok(printed));
        assert_eq!(canonicalize(given, printed.len() - 1), Err(ValueError::LongText(printed.len() - 1)));
        let short = format!("[{}1]", "1e4096,".repeat(1000));
        assert_eq!(canonicalize(&short, 1 << 20), Err(ValueError::LongText(1 << 20)));
    }

    #[test]
    fn what_stands_deep_is_printed_once() {
        // Were each level to copy what is in it, this would take minutes.
        let inner = format!("\"{}\"", "x".repeat(4 << 20));
        let deep = (0..MAX_DEPTH - 1).fold(inner, |inner, _| format!("{{\"b\":{inner},\"a\":1}}"));
        for _ in 0..8 {
            assert!(all(&deep).is_ok());
        }
    }
}
