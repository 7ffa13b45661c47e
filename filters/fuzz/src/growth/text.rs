//! Texts that repeat a construct.

/// `head`, then `open` n times, `core`, `close` n times, and `tail`. What is only repeated has no `close`; what is left
/// open neither. `{i}` in what is repeated is its number, `{p}` that of the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub head: &'a str,
    pub open: &'a str,
    pub core: &'a str,
    pub close: &'a str,
    pub tail: &'a str,
}

impl<'a> Text<'a> {
    pub(super) const fn new(
        head: &'a str,
        open: &'a str,
        core: &'a str,
        close: &'a str,
        tail: &'a str,
    ) -> Self {
        Self { head, open, core, close, tail }
    }

    pub(super) const fn repeat(head: &'a str, open: &'a str, tail: &'a str) -> Self {
        Self::new(head, open, "", "", tail)
    }

    pub(super) fn write(&self, times: usize) -> String {
        let mut text = self.head.to_owned();
        repeat(self.open, times, &mut text);
        text.push_str(self.core);
        repeat(self.close, times, &mut text);
        text.push_str(self.tail);
        text
    }
}

fn repeat(unit: &str, times: usize, text: &mut String) {
    if !unit.contains('{') {
        return text.push_str(&unit.repeat(times));
    }
    for number in 1..=times {
        let unit = unit.replace("{i}", &number.to_string());
        text.push_str(&unit.replace("{p}", &(number - 1).to_string()));
    }
}

/// Choices that follow from a number alone: SplitMix64.
pub struct Chance(u64);

impl Chance {
    /// The choices of this number.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) >> 32).expect("32 bits") % bound
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Up to so many of these, one behind the other.
    pub(super) fn some(&mut self, from: &[&str], most: usize, between: &str) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.pick(from)).collect::<Vec<_>>().join(between)
    }
}
