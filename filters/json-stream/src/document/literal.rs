//! `true`, `false` and `null`, letter by letter.

/// What comes behind the first letters, each with a mark where it ends.
const LETTERS: &[u8] = b"rue.alse.ull.";
const END: u8 = b'.';

/// How far a literal is read: the place of its next letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Literal(u8);

impl Literal {
    /// After a literal's first letter.
    pub(super) fn begin(byte: u8) -> Option<Self> {
        match byte {
            b't' => Some(Self(0)),
            b'f' => Some(Self(4)),
            b'n' => Some(Self(9)),
            _ => None,
        }
    }

    /// Reads on up to the first byte that is not the literal's. True if it is whole.
    pub(super) fn read(&mut self, rest: &mut &[u8]) -> bool {
        loop {
            match (LETTERS.get(usize::from(self.0)), *rest) {
                (None | Some(&END), _) => return true,
                (Some(letter), [byte, behind @ ..]) if letter == byte => {
                    self.0 = self.0.saturating_add(1);
                    *rest = behind;
                }
                _ => return false,
            }
        }
    }
}
