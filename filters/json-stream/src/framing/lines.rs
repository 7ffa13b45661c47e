//! One JSON text a line: NDJSON and JSON Lines, which differ in name alone.

use super::{Part, before};
use crate::document::Ending;

/// Nothing is kept: a line feed is a line's end wherever it is, since none can be within a JSON string.
#[derive(Debug)]
pub(crate) struct Lines;

/// Blank lines are no texts; the last line may lack its line feed.
pub(super) const ENDING: Ending = Ending { blank: true, number: true };

impl Lines {
    pub(super) fn next(&mut self, bytes: &[u8]) -> Part {
        match before(bytes, |byte| byte == b'\n') {
            0 => Part::End(1, ENDING),
            line => Part::Json(line),
        }
    }
}
