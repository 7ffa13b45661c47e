//! `jsonb`: as the server prints it. Keys are sorted by length, then by bytes; of equal keys the last stays;
//! numbers are as `numeric` has them; escapes are resolved.

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

/// Reads the one form and writes the other at once: no tree takes memory.
struct Rewriter<'a> {
    given: Scanner<'a>,
    printed: String,
    keys: usize,
}

/// A key, and where its value stands in what is printed.
struct Entry {
    key: String,
    value: std::ops::Range<usize>,
}

impl Rewriter<'_> {
    fn push(&mut self, text: &str) -> Result<(), ValueError> {
        if self.printed.len().saturating_add(text.len()) > MAX_BYTES {
            return Err(ValueError::Unsupported("jsonb that prints as more than 16 MiB"));
        }
        self.printed.push_str(text);
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<(), ValueError> {
        self.given.skip_space();
        let nested = |depth: usize| match depth.checked_add(1) {
            Some(depth) if depth <= MAX_DEPTH => Ok(depth),
            _ => Err(ValueError::Unsupported("jsonb of more than 128 levels")),
        };
        match self.given.peek().ok_or(INVALID)? {
            b'{' => self.object(nested(depth)?),
            b'[' => self.array(nested(depth)?),
            b'"' => {
                let string = self.given.string()?;
                self.push(&quoted(&string))
            }
            b'-' | b'0'..=b'9' => {
                let number = numeric::canonicalize(self.given.number()?, None)?;
                self.push(&number)
            }
            _ => {
                let word = self.given.word()?;
                self.push(word)
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), ValueError> {
        self.given.expect(b'[')?;
        self.push("[")?;
        self.given.skip_space();
        if !self.given.take(b']') {
            loop {
                self.value(depth)?;
                self.given.skip_space();
                if self.given.take(b']') {
                    break;
                }
                self.given.expect(b',')?;
                self.push(", ")?;
            }
        }
        self.push("]")
    }

    /// Prints the values as they come, then puts them in the order of their keys.
    fn object(&mut self, depth: usize) -> Result<(), ValueError> {
        self.given.expect(b'{')?;
        let start = self.printed.len();
        let mut entries = Vec::new();
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
        let ordered = self.ordered(entries);
        self.printed.truncate(start);
        self.push(&ordered)
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
        let begin = self.printed.len();
        self.value(depth)?;
        Ok(Entry { key, value: begin..self.printed.len() })
    }

    fn ordered(&self, mut entries: Vec<Entry>) -> String {
        // Equal keys stay in the order in which they came.
        entries.sort_by(|a, b| (a.key.len(), &a.key).cmp(&(b.key.len(), &b.key)));
        let mut object = String::from("{");
        let mut entries = entries.iter().peekable();
        while let Some(entry) = entries.next() {
            if entries.peek().is_some_and(|next| next.key == entry.key) {
                continue;
            }
            if object.len() > 1 {
                object.push_str(", ");
            }
            object.push_str(&quoted(&entry.key));
            object.push_str(": ");
            object.push_str(self.printed.get(entry.value.clone()).unwrap_or_default());
        }
        object.push('}');
        object
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

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    let mut rewriter = Rewriter { given: Scanner::new(text), printed: String::new(), keys: 0 };
    rewriter.value(0)?;
    rewriter.given.skip_space();
    if rewriter.given.peek().is_none() { Ok(rewriter.printed) } else { Err(INVALID) }
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

    #[test]
    fn value_that_would_take_too_much_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonicalize(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(canonicalize(&nested(MAX_DEPTH + 1)), Err(ValueError::Unsupported(_))));
        assert!(matches!(canonicalize(&"[".repeat(1 << 20)), Err(ValueError::Unsupported(_))));
        let large = format!("[{}1]", "1e4000,".repeat(5000));
        assert!(matches!(canonicalize(&large), Err(ValueError::Unsupported(_))));
        let keys = |count: usize| format!("{{{}\"\":1}}", "\"\":1,".repeat(count - 1));
        assert_eq!(canonicalize(&keys(MAX_KEYS)).as_deref(), Ok("{\"\": 1}"));
        assert!(matches!(canonicalize(&keys(MAX_KEYS + 1)), Err(ValueError::Unsupported(_))));
    }

    #[test]
    fn objects_in_objects_are_ordered_at_every_level() {
        let given =
            r#" {"bb":{"y":[{"z":1,"a":2}],"x":{}} ,"a":1.50,"bb":[ ],"c":{"y":1e2,"x":"\u00e4\/"}} "#;
        let printed = r#"{"a": 1.50, "c": {"x": "ä/", "y": 100}, "bb": []}"#;
        assert_eq!(canonicalize(given).as_deref(), Ok(printed));
    }
}
