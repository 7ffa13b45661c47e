//! A statement's tokens, one after the other: for the small grammars that the parser doesn't have.

use crate::{lex::Token, segment::Segment};

/// The tokens from a place on.
pub(crate) struct Reader<'a, 't> {
    pub segment: &'a Segment<'t>,
    /// The next.
    pub at: usize,
}

impl Reader<'_, '_> {
    /// Takes a name, quoted or not.
    pub fn takes_name(&mut self) -> Option<String> {
        let name = self.segment.tokens.get(self.at).and_then(Token::name)?.to_owned();
        self.advance();
        Some(name)
    }

    pub fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found = self.segment.is_symbol(self.at, symbol);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let found = self.segment.is_word(self.at, word);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    /// Takes these words, or none of them.
    pub fn takes_words(&mut self, words: &[&str]) -> bool {
        let start = self.at;
        let found = words.iter().all(|word| self.takes_word(word));
        if !found {
            self.at = start;
        }
        found
    }

    pub fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Whether nothing is left.
    pub fn is_end(&self) -> bool {
        self.at >= self.segment.tokens.len()
    }
}
