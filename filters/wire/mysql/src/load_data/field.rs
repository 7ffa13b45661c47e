//! What a field says.

use super::Format;

/// A field as it is written, without what ends it.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Its bytes, quotes and all.
    pub raw: &'a [u8],
    /// Whether it ends with the quote that it begins with.
    pub enclosed: bool,
}

impl Field<'_> {
    /// Its value, None for NULL.
    pub fn value(self, format: &Format) -> Option<Vec<u8>> {
        let quoted = format.enclosed.is_some() && self.raw.first().copied() == format.enclosed;
        let inside = match (quoted, self.enclosed) {
            (true, true) => self.raw.get(1..self.raw.len().saturating_sub(1)).unwrap_or_default(),
            (true, false) => self.raw.get(1..).unwrap_or_default(),
            (false, _) => self.raw,
        };
        let mut value = Vec::with_capacity(self.raw.len());
        // A quote that nothing closes is a part of the value.
        value.extend(format.enclosed.filter(|_| quoted && !self.enclosed));
        let mut has_null = false;
        let mut rest = inside;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            let next = rest.first().copied();
            if Some(*byte) == format.escaped
                && let Some(next) = next
                && (format.escaped != format.enclosed || next == *byte)
            {
                has_null |= next == b'N';
                value.push(unescaped(next));
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            if quoted && Some(*byte) == format.enclosed && next == Some(*byte) {
                rest = rest.get(1..).unwrap_or_default();
            }
            value.push(*byte);
        }
        let is_word = format.enclosed.is_some() && !self.enclosed && value == b"NULL";
        let is_null = is_word || (has_null && value.len() == 1);
        (!is_null).then_some(value)
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'0' => 0,
        b'Z' => 0x1a,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_data::{End, Scanner};

    fn csv() -> Format {
        Format { field_end: b",".to_vec(), enclosed: Some(b'"'), ..Format::default() }
    }

    /// The fields of a line, with what ends the last.
    fn fields(format: &Format, mut bytes: &[u8]) -> (Vec<Option<String>>, End) {
        let mut values = Vec::new();
        loop {
            let Some(found) = Scanner::default().find(format, bytes, true) else { panic!("no field ends") };
            let field = Field { raw: &bytes[..found.len], enclosed: found.enclosed };
            values.push(field.value(format).map(|value| String::from_utf8_lossy(&value).into_owned()));
            if found.end != End::Field || bytes.len() == found.len + format.field_end.len() {
                return (values, found.end);
            }
            bytes = &bytes[found.len + format.field_end.len()..];
        }
    }

    fn check(format: &Format, line: &str, expected: &[Option<&str>]) {
        let expected: Vec<_> = expected.iter().map(|value| value.map(str::to_owned)).collect();
        assert_eq!(fields(format, line.as_bytes()).0, expected, "{line}");
    }

    #[test]
    fn fields_say_what_they_say_to_the_servers() {
        let tabs = Format::default();
        check(&tabs, "a\t\\N\tNULL\t\n", &[Some("a"), None, Some("NULL"), Some("")]);
        check(&tabs, "a\\\tb\\\nc\\\\\\q\\0\\Z\n", &[Some("a\tb\nc\\q\0\x1a")]);
        check(&tabs, "\\Nx\tx\\N\n", &[Some("Nx"), Some("xN")]);
        let csv = csv();
        check(&csv, "\"a,b\n\"\"c\"\"\",NULL,\"NULL\"\n", &[Some("a,b\n\"c\""), None, Some("NULL")]);
        check(&csv, "\"a\"b\",a\"b,\"\\N\"\n", &[Some("a\"b"), Some("a\"b"), None]);
        check(&csv, "\"\",\"\"\"\"\n", &[Some(""), Some("\"")]);
        check(&csv, "\"open,\n", &[Some("\"open,\n")]);
        let own = Format { escaped: Some(b'"'), ..csv.clone() };
        check(&own, "\"a\"\"b\",a\"\"b,\"x\"\n", &[Some("a\"b"), Some("a\"b"), Some("x")]);
        let none = Format { escaped: None, ..csv };
        check(&none, "a\\,\"\\\"\n", &[Some("a\\"), Some("\\")]);
    }
}
