//! A request's path, as it is compared with routes.
//!
//! What servers take for the same is the same here: percent-encoding is decoded once, empty segments count for
//! nothing, and of a segment what follows `;` (RFC 3986, section 3.3) aside. Where they differ in what they take a path
//! for, so that one reading could escape a route that the other fits, it is none.

use std::borrow::Cow;

/// The segments of a path, to be compared.
pub struct Path<'p> {
    segments: Vec<Segment<'p>>,
}

struct Segment<'p> {
    text: Cow<'p, str>,
    /// Its index among all segments as they were sent.
    sent: usize,
}

impl<'p> Path<'p> {
    /// Reads a path as it was sent, without query. None if servers could read it in different ways.
    pub fn parse(path: &'p str) -> Option<Self> {
        // OPTIONS asks for the server as a whole by `*`, and CONNECT has no path (RFC 9112, section 3.2).
        if matches!(path, "" | "*") {
            return Some(Self { segments: Vec::new() });
        }
        let mut segments = Vec::new();
        for (sent, raw) in path.strip_prefix('/')?.split('/').enumerate() {
            if let Some(text) = compared(raw)? {
                segments.push(Segment { text, sent });
            }
        }
        Some(Self { segments })
    }

    /// How many segments there are to compare.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// The segments' texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map(|segment| segment.text.as_ref())
    }

    /// Whether every segment that was sent is compared, or only the last one is not.
    pub fn is_plain(&self) -> bool {
        self.segments.last().is_none_or(|last| last.sent.saturating_add(1) == self.segments.len())
    }

    /// At which index among all that were sent the segment with this index is.
    pub fn sent_index(&self, index: usize) -> Option<usize> {
        self.segments.get(index).map(|segment| segment.sent)
    }
}

/// What is compared of a segment. None inside if it is empty, none at all if servers read it in different ways.
fn compared(raw: &str) -> Option<Option<Cow<'_, str>>> {
    if raw.is_empty() {
        return Some(None);
    }
    let decoded = decode(raw)?;
    // A character that ends a path or a segment for some, or that is cut off or cleaned away.
    if decoded.contains(|c: char| c.is_control() || matches!(c, '/' | '\\')) || raw.contains(['?', '#']) {
        return None;
    }
    let text = before_parameters(decoded);
    // Dot segments are resolved by some and taken as they are by others, and some see them behind `;` alone.
    (!matches!(text.as_ref(), "" | "." | "..")).then_some(Some(text))
}

/// What stands before the first `;`.
fn before_parameters(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.split(';').next().unwrap_or_default()),
        Cow::Owned(mut text) => {
            text.truncate(text.find(';').unwrap_or(text.len()));
            Cow::Owned(text)
        }
    }
}

/// Decodes percent-encoding once. None if it is malformed, or the text is not UTF-8 then.
fn decode(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('%') {
        return Some(Cow::Borrowed(raw));
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut bytes = raw.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)?.checked_mul(16)?.checked_add(hex(bytes.next()?)?)?,
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
