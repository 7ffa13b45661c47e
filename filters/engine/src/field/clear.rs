//! A value in clear on its way to be sealed.

use std::borrow::Cow;
use std::ops::Deref;

use zeroize::Zeroizing;

/// A text as it was given, or one that was made of it, which is wiped.
pub enum Clear<'t> {
    /// In the bytes that came.
    Given(&'t [u8]),
    /// In bytes of its own.
    Made(Zeroizing<Vec<u8>>),
}

impl<'t> From<Cow<'t, [u8]>> for Clear<'t> {
    fn from(text: Cow<'t, [u8]>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::Given(text),
            Cow::Owned(text) => Self::Made(Zeroizing::new(text)),
        }
    }
}

impl Deref for Clear<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Given(text) => text,
            Self::Made(text) => text,
        }
    }
}
