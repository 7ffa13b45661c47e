//! Where a word stands in a text that is not cut into tokens.

/// Whether a word, which is given in lower case, stands in the bytes at a place that is accepted, ASCII letters in either case.
/// The place is told by what stands before and behind it. Each step looks at one byte, and passes over as many as the word has
/// where that is none of the word's.
pub(crate) fn occurs(bytes: &[u8], word: &str, accepts: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    let word = word.as_bytes();
    let Some(last) = word.last() else { return accepts(&[], bytes) };
    let Letters(letters) = Letters::of(word);
    let last = bit(*last);
    let mut end = word.len();
    while let Some(byte) = end.checked_sub(1).and_then(|at| bytes.get(at)) {
        let here = bit(*byte);
        if here & letters == 0 {
            end = end.saturating_add(word.len());
            continue;
        }
        if here == last && stands_before(bytes, end, word, &accepts) {
            return true;
        }
        end = end.saturating_add(1);
    }
    false
}

/// Which letters stand in a text.
#[derive(Clone, Copy)]
pub(crate) struct Letters(u32);

impl Letters {
    pub const fn of(mut bytes: &[u8]) -> Self {
        let mut letters = 0;
        while let Some((first, rest)) = bytes.split_first() {
            letters |= bit(*first);
            bytes = rest;
        }
        Self(letters)
    }

    /// Whether all letters of a word stand in the text. Where they do not, the word does not either.
    pub fn may_hold(self, word: &SoughtWord) -> bool {
        let Self(needed) = word.letters;
        needed & !self.0 == 0
    }
}

/// A word that is looked for in many texts, in lower case.
pub(crate) struct SoughtWord {
    pub text: &'static str,
    letters: Letters,
}

impl SoughtWord {
    pub const fn new(text: &'static str) -> Self {
        Self { text, letters: Letters::of(text.as_bytes()) }
    }
}

/// A bit that a letter shares with its other case, and with few other bytes.
const fn bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

#[inline(never)]
fn stands_before(bytes: &[u8], end: usize, word: &[u8], accepts: &impl Fn(&[u8], &[u8]) -> bool) -> bool {
    let Some((through, behind)) = bytes.split_at_checked(end) else { return false };
    let start = end.saturating_sub(word.len());
    let Some((before, window)) = through.split_at_checked(start) else { return false };
    window.eq_ignore_ascii_case(word) && accepts(before, behind)
}

/// Whether a word, which is given in lower case, stands anywhere in the bytes, ASCII letters in either case.
pub(crate) fn occurs_anywhere(bytes: &[u8], word: &str) -> bool {
    occurs(bytes, word, |_, _| true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Letters, SoughtWord, occurs, occurs_anywhere};

    #[test]
    fn word_is_found_at_both_ends_and_between() {
        for text in ["abcab", "xabcab", "abCABx", "ababcab", "xxABCABxx", "aabcabcab"] {
            assert!(occurs_anywhere(text.as_bytes(), "abcab"), "{text}");
        }
        for text in ["", "abca", "bcab", "abcaab", "abccab"] {
            assert!(!occurs_anywhere(text.as_bytes(), "abcab"), "{text}");
        }
        assert!(occurs_anywhere(b"", "") && occurs_anywhere(b"a", ""));
        let letters = Letters::of(b"xBA");
        assert!(letters.may_hold(&SoughtWord::new("ab")) && !letters.may_hold(&SoughtWord::new("abc")));
    }

    #[test]
    fn place_that_is_not_accepted_does_not_hide_the_next_one() {
        let is_behind_b = |before: &[u8], _: &[u8]| before.ends_with(b"b");
        assert!(occurs(b"aabaa", "aa", is_behind_b));
        assert!(!occurs(b"aaaa", "aa", is_behind_b));
        assert!(occurs(b"aaaa", "aa", |before, behind| before == b"a" && behind == b"a"));
    }

    proptest! {
        #[test]
        fn word_is_found_where_a_plain_search_finds_it(text in "[abAB_]{0,40}", word in "[ab_]{1,5}") {
            let places: Vec<_> = text.to_ascii_lowercase().as_bytes().windows(word.len()).enumerate()
                .filter_map(|(at, window)| (window == word.as_bytes()).then_some(at)).collect();
            prop_assert_eq!(occurs_anywhere(text.as_bytes(), &word), !places.is_empty());
            let letters = Letters::of(text.as_bytes());
            prop_assert!(places.is_empty() || letters.0 & Letters::of(word.as_bytes()).0 == Letters::of(word.as_bytes()).0);
            for place in 0..text.len() {
                let is_here = |before: &[u8], _: &[u8]| before.len() == place;
                prop_assert_eq!(occurs(text.as_bytes(), &word, is_here), places.contains(&place));
            }
        }
    }
}
