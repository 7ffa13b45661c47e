//! Many names looked for in a text at once: what it costs does not grow with their number.

use crate::sorted::sorted;

/// Texts that are looked for, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    /// Sorted; none begins with another, which would be found first.
    sorted: Vec<Box<[u8]>>,
    /// Where those with this first byte begin.
    starts: Vec<usize>,
}

impl Patterns {
    pub fn of(names: impl Iterator<Item = String>) -> Self {
        let mut sorted = sorted(names.map(|name| name.into_bytes().into_boxed_slice()).collect());
        sorted.dedup_by(|longer, shorter| longer.starts_with(shorter));
        let before = |first: u16| {
            let is_before = |name: &[u8]| name.first().is_none_or(|byte| u16::from(*byte) < first);
            sorted.partition_point(|name| is_before(name))
        };
        let starts = (0..=256).map(before).collect();
        Self { sorted, starts }
    }

    /// Whether one of them stands anywhere in a text, ASCII's letters in either case.
    pub fn stand_in(&self, text: &[u8]) -> bool {
        let is_empty = self.sorted.first().is_some_and(|name| name.is_empty());
        is_empty || text.iter().enumerate().any(|(at, first)| self.begin(text, at, *first))
    }

    /// Whether the text goes on with one of them at a place.
    fn begin(&self, text: &[u8], at: usize, first: u8) -> bool {
        let first = usize::from(first.to_ascii_lowercase());
        let (from, to) = (self.starts.get(first), self.starts.get(first.saturating_add(1)));
        let (Some(from), Some(to)) = (from, to) else { return false };
        if from == to {
            return false;
        }
        let mut those = self.sorted.get(*from..*to).unwrap_or_default();
        let rest = text.get(at..).unwrap_or_default().iter().enumerate().skip(1);
        let mut rest = rest.map(|(depth, byte)| (depth, byte.to_ascii_lowercase()));
        // Those that the text goes on with so far, and the next byte decides among.
        while let [first, .., last] | [first @ last] = those {
            let Some((depth, next)) = rest.next() else {
                return first.len() == text.len().saturating_sub(at);
            };
            let Some(least) = first.get(depth) else { return true };
            let byte = |name: &[u8]| name.get(depth).copied().unwrap_or_default();
            if *least == next && byte(last) == next {
                continue;
            }
            let (from, to) = (
                those.partition_point(|name| byte(name) < next),
                those.partition_point(|name| byte(name) <= next),
            );
            those = those.get(from..to).unwrap_or_default();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Patterns;

    #[test]
    fn a_name_is_found_wherever_it_stands() {
        let patterns =
            Patterns::of(["customer", "card", "cardholder", "é\"x", "z"].map(str::to_owned).into_iter());
        for found in ["customer", "xCUSTOMERx", "cardh", "ccard", "É é\"X", "aaaaZ", "custcustomer"] {
            assert!(patterns.stand_in(found.as_bytes()), "{found}");
        }
        for absent in ["", "custome", "c", "car", "ca rd", "é\"", "custocustome"] {
            assert!(!patterns.stand_in(absent.as_bytes()), "{absent}");
        }
        let alike = Patterns::of((0..9).map(|n| format!("{}{n}b", "a".repeat(40))));
        assert!(alike.stand_in(format!("{}7B", "A".repeat(99)).as_bytes()));
        assert!(!alike.stand_in(format!("{}7a8", "a".repeat(99)).as_bytes()));
        assert!(!Patterns::of(std::iter::empty()).stand_in(b"customer"));
        assert!(Patterns::of(["", "a"].map(str::to_owned).into_iter()).stand_in(b""));
    }

    #[test]
    fn many_names_are_found_as_each_alone_is() {
        let names: Vec<String> = (0..400).map(|n| format!("t{:x}", n * 7919 % 4096)).collect();
        let patterns = Patterns::of(names.iter().cloned());
        for n in 0..4096_u32 {
            let text = format!(". T{n:X}-");
            let expected = names.iter().any(|name| text.to_lowercase().contains(name));
            assert_eq!(patterns.stand_in(text.as_bytes()), expected, "{text}");
        }
    }
}
