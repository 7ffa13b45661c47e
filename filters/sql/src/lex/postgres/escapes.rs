//! Texts of a session in which `standard_conforming_strings` is off: a backslash in an ordinary string is an escape, as it is in
//! `E'…'`.

use std::borrow::Cow;

use super::{Cursor, Doubt, Kind, next, operator, string};

/// Where the strings of a text end is not certain.
#[derive(Debug, PartialEq, Eq)]
pub struct StringDoubt;

impl From<Doubt> for StringDoubt {
    fn from(Doubt: Doubt) -> Self {
        Self
    }
}

/// Writes `E` before each ordinary string that holds a backslash, so that the text means the same whatever
/// `standard_conforming_strings` is.
///
/// # Errors
/// [`StringDoubt`] if the text can't be read with certainty, or holds what the server refuses in such a session.
pub fn with_escape_strings(text: &str) -> Result<Cow<'_, str>, StringDoubt> {
    if !text.contains('\\') && !may_have_code_points(text) {
        return Ok(Cow::Borrowed(text));
    }
    let mut cursor = Cursor { text, at: 0, signs_end: 0 };
    let mut written = String::new();
    let mut copied = 0_usize;
    let mut behind_string = false;
    loop {
        operator::skip_blank(&mut cursor)?;
        let start = cursor.at;
        let Some(first) = cursor.peek(0) else { break };
        match (first, cursor.peek(1), cursor.peek(2)) {
            (b'\'', ..) => {
                string::escaped(&mut cursor)?;
                if cursor.since(start).contains('\\') {
                    if behind_string {
                        // It may go on with the string before, which E would not.
                        return Err(StringDoubt);
                    }
                    written.push_str(text.get(copied..start).unwrap_or_default());
                    // The space keeps it apart from a word.
                    written.push_str(" E");
                    copied = start;
                }
                behind_string = true;
            }
            // N'…' is an ordinary string behind a keyword; the server takes no U&'…'.
            (b'n' | b'N', Some(b'\''), _) | (b'u' | b'U', Some(b'&'), Some(b'\'')) => {
                return Err(StringDoubt);
            }
            _ => behind_string = matches!(next(&mut cursor, first)?, Kind::Text { .. }),
        }
    }
    if copied == 0 && written.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    written.push_str(text.get(copied..).unwrap_or_default());
    Ok(Cow::Owned(written))
}

/// Whether a text may have a `U&'…'`.
fn may_have_code_points(text: &str) -> bool {
    text.as_bytes().windows(3).any(|start| matches!(start, [b'u' | b'U', b'&', b'\'']))
}

#[cfg(test)]
mod tests {
    use super::{StringDoubt, with_escape_strings};

    #[test]
    fn strings_with_backslashes_are_written_with_escapes() {
        for (text, written) in [
            ("SELECT 'a'", "SELECT 'a'"),
            (r"SELECT 'a\'b', 'c', '\\'", r"SELECT  E'a\'b', 'c',  E'\\'"),
            ("'a'\n'\\''", " E'a'\n'\\''"),
            (r"SELECT'\n'", r"SELECT E'\n'"),
            // A backslash elsewhere is no escape.
            (r#"SELECT E'\'' /* \ */ -- '\'"#, r#"SELECT E'\'' /* \ */ -- '\'"#),
            (r#""\" $$\$$ 'a''b'"#, r#""\" $$\$$ 'a''b'"#),
        ] {
            assert_eq!(with_escape_strings(text).as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn what_is_not_certain_is_in_doubt() {
        for text in
            [r"'a\'", r"N'\'", r"U&'\0061'", "u&'!0061' UESCAPE '!'", r"'\xff'", r"SELECT \", "'a' --\n'\\''"]
        {
            assert_eq!(with_escape_strings(text), Err(StringDoubt), "{text}");
        }
    }
}
