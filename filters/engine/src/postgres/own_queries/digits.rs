//! Questions to the server in a session of another encoding than UTF-8: the texts of their answers come in hexadecimal digits
//! of UTF-8, which are the same in every encoding, and so are characters that the client's encoding lacks.

use std::fmt::Write;

use fieldveil_postgres_wire::backend::{DataRow, DataRowWriter};
use fieldveil_postgres_wire::frame::HEADER_LEN;

/// Returns the question whose answer has the columns of another one, with the digits of those that are texts.
pub(super) fn question(asked: &str, texts: &[bool]) -> String {
    let names: Vec<String> = (1..=texts.len()).map(|number| format!("c{number}")).collect();
    let wanted = names.iter().zip(texts).map(|(name, is_text)| match is_text {
        true => format!("pg_catalog.encode(pg_catalog.convert_to({name}, 'UTF8'), 'hex')"),
        false => name.clone(),
    });
    let wanted: Vec<String> = wanted.collect();
    format!("SELECT {} FROM ({asked}) AS asked({})", wanted.join(", "), names.join(", "))
}

/// Returns a text as it stands in a string with escapes, in ASCII.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_ascii() {
            true => escaped.push(letter),
            // Writing to a string does not fail.
            false => drop(write!(escaped, "\\U{:08X}", u32::from(letter))),
        }
    }
    escaped
}

/// Returns the body of a row of the answer as it would be in UTF-8; None if it is not as asked for.
pub(super) fn read(body: &[u8], texts: &[bool]) -> Option<Vec<u8>> {
    let row = DataRow::parse(body).ok()?;
    if usize::from(row.columns()) != texts.len() {
        return None;
    }
    let mut message = Vec::with_capacity(body.len());
    let mut writer = DataRowWriter::new(&mut message, row.columns());
    for (value, is_text) in row.values().zip(texts) {
        let text = match value.filter(|_| *is_text) {
            Some(digits) => Some(bytes(digits)?),
            None => None,
        };
        writer.push(text.as_deref().or(value)).ok()?;
    }
    writer.finish().ok()?;
    Some(message.split_off(HEADER_LEN))
}

fn bytes(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes, escaped, question};

    #[test]
    fn texts_are_asked_for_in_digits() {
        assert_eq!(
            question("SELECT 1, 'a'", &[false, true]),
            "SELECT c1, pg_catalog.encode(pg_catalog.convert_to(c2, 'UTF8'), 'hex') FROM (SELECT 1, 'a') AS asked(c1, c2)"
        );
        assert_eq!(escaped("a'é"), "a'\\U000000E9");
        assert_eq!(bytes(b"c3a9").as_deref(), Some("é".as_bytes()));
        assert!(bytes(b"c3a").is_none() && bytes(b"zz").is_none());
    }
}
