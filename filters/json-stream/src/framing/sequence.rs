//! JSON text sequences (RFC 7464): each text has a record separator before it.

use super::{Part, before};
use crate::document::Ending;

const RECORD_SEPARATOR: u8 = 0x1e;

/// How far a sequence is read.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    /// A record separator came.
    began: bool,
    /// Something came after the last.
    text: bool,
}

impl Sequence {
    pub(super) fn next(&mut self, bytes: &[u8]) -> Part {
        match before(bytes, |byte| byte == RECORD_SEPARATOR) {
            0 => {
                let ending = self.ending();
                (self.began, self.text) = (true, false);
                Part::End(1, ending)
            }
            _ if !self.began => Part::Bad("a record separator must come before each JSON text"),
            text => {
                self.text = true;
                Part::Json(text)
            }
        }
    }

    /// Separators in a row are as one (section 2.1). A number must have space after it, or it may have been cut
    /// (section 2.4); of all other texts one sees it.
    pub(super) fn ending(&self) -> Ending {
        Ending { blank: !self.text, number: false }
    }
}
