//! Numbers, whose text is checked and not looked at otherwise.

/// How far a number is read (RFC 8259, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// After the minus.
    Minus,
    /// After a zero that no digit may follow.
    Zero,
    /// In the integer's digits.
    Integer,
    /// After the decimal point.
    Point,
    /// In the fraction's digits.
    Fraction,
    /// After the `e`.
    Exponent,
    /// After the exponent's sign.
    Sign,
    /// In the exponent's digits.
    Power,
}

impl Number {
    /// After a number's first byte.
    pub(super) fn begin(byte: u8) -> Option<Self> {
        match byte {
            b'-' => Some(Self::Minus),
            b'0' => Some(Self::Zero),
            b'1'..=b'9' => Some(Self::Integer),
            _ => None,
        }
    }

    /// Reads on up to the first byte that is not the number's.
    #[inline(always)]
    pub(super) fn read(&mut self, rest: &mut &[u8]) {
        // Copies, which can stay in registers.
        let (mut number, mut left) = (*self, *rest);
        loop {
            if matches!(number, Self::Integer | Self::Fraction | Self::Power) {
                // More digits change nothing.
                while let [b'0'..=b'9', behind @ ..] = left {
                    left = behind;
                }
            }
            let [byte, behind @ ..] = left else { break };
            let Some(next) = number.after(*byte) else { break };
            number = next;
            left = behind;
        }
        (*self, *rest) = (number, left);
    }

    /// May it end here?
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Power)
    }

    fn after(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Minus, b'0') => Some(Self::Zero),
            (Self::Minus | Self::Integer, b'0'..=b'9') => Some(Self::Integer),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Exponent | Self::Sign | Self::Power, b'0'..=b'9') => Some(Self::Power),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::Exponent),
            (Self::Exponent, b'+' | b'-') => Some(Self::Sign),
            _ => None,
        }
    }
}
