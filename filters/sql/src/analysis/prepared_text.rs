//! The text of a statement that is prepared under the client's own name.

use std::{fmt, ops::Deref, rc::Rc};

/// A text that is kept to be read again. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct PreparedText(Rc<str>);

impl From<&str> for PreparedText {
    fn from(text: &str) -> Self {
        Self(Rc::from(text))
    }
}

impl Deref for PreparedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PreparedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::PreparedText;

    #[test]
    fn debug_shows_nothing_of_the_text() {
        assert_eq!(format!("{:?}", PreparedText::from("SELECT '078-05-1120'")), "20 bytes");
    }
}
