//! The words that the server gets in the place of end users' tokens. A word stands for its token no longer than the server may
//! have it set, so that an old word, which many users may read, gives nobody another user's rights.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::identity;
use zeroize::Zeroizing;

use crate::client_error::ClientError;
use crate::ports::Ports;

/// A session remembers so many tokens, the newest ones.
const MAX_TOKENS: usize = 64;
/// The most bytes of a token.
pub const MAX_TOKEN: usize = 16 << 10;
/// The most bytes of a purpose.
pub const MAX_PURPOSE: usize = 256;
/// What every word begins with.
const WORD: &str = "fieldveil-";

/// Whether a text holds such a word. Nothing else begins like one.
pub fn holds_word(text: &str) -> bool {
    // Most texts do not even hold its beginning, which is looked for faster.
    identity::mentions(text.as_bytes()) && text.contains(WORD)
}

/// How long the server may have a word set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lasts {
    /// Until the transaction ends.
    Transaction,
    /// Until the server says that it has another one.
    Session,
    /// As long as the connection, because RESET brings back what came with the StartupMessage.
    Connection,
}

impl Lasts {
    /// Returns how long a setting lasts that a text makes.
    pub fn of(local: bool) -> Self {
        if local { Self::Transaction } else { Self::Session }
    }
}

/// A token with its word. It holds the token: no `Debug`.
#[derive(Clone)]
pub struct Given {
    /// What the server has in the token's place.
    pub word: Arc<str>,
    token: Rc<Zeroizing<String>>,
    lasts: Lasts,
}

impl Given {
    /// Counts the bytes of the token.
    pub fn len(&self) -> usize {
        self.token.len()
    }
}

/// The tokens of a session, each with the word that the server has in its place. Words are random, so that only who gave a token
/// can give its word. It holds tokens: no `Debug`.
#[derive(Default)]
pub struct TokenWords {
    known: VecDeque<Given>,
}

impl TokenWords {
    /// Returns the word for a token, which is the same each time.
    pub fn take(&mut self, token: &str, lasts: Lasts, ports: &mut dyn Ports) -> Result<Given, ClientError> {
        if token.len() > MAX_TOKEN {
            return Err(ClientError::limit(
                "fieldveil.token is longer than the 16 KiB that are read of one",
                "Ask for a token with fewer claims.",
            ));
        }
        let known = self.known.iter().find(|known| known.token.as_str() == token);
        let (word, token) = match known {
            Some(known) => (Arc::clone(&known.word), Rc::clone(&known.token)),
            None => {
                let mut random = [0; 16];
                ports.fill(&mut random);
                let word = random.iter().fold(String::from(WORD), |word, byte| format!("{word}{byte:02x}"));
                (Arc::from(word), Rc::new(Zeroizing::new(token.to_owned())))
            }
        };
        let given = Given { word, token, lasts };
        self.give(&given);
        Ok(given)
    }

    /// Remembers the words of a prepared text that is about to be executed: the server is about to set them again.
    pub fn give_all(&mut self, given: &[Given]) {
        given.iter().for_each(|given| self.give(given));
    }

    fn give(&mut self, given: &Given) {
        let mut given = given.clone();
        if let Some(index) = self.known.iter().position(|known| known.word == given.word) {
            let before = self.known.remove(index).map(|known| known.lasts);
            given.lasts = before.map_or(given.lasts, |lasts| lasts.max(given.lasts));
        }
        if self.known.len() >= MAX_TOKENS {
            let oldest = self.known.iter().position(|known| known.lasts != Lasts::Connection);
            drop(oldest.and_then(|index| self.known.remove(index)));
        }
        self.known.push_back(given);
    }

    /// Counts the bytes of all tokens.
    pub fn bytes(&self) -> usize {
        self.known.iter().fold(0, |sum, known| sum.saturating_add(known.len()))
    }

    /// Returns the token that a word stands for.
    pub fn token(&self, word: &str) -> Option<&str> {
        self.known.iter().find(|known| known.word.as_ref() == word).map(|known| known.token.as_str())
    }

    /// Forgets the words that lasted as long as the transaction, because none is open.
    pub fn transaction_ended(&mut self) {
        self.known.retain(|known| known.lasts > Lasts::Transaction);
    }

    /// Forgets the words that last no longer than the session and are not this one, which the server has set outside of a
    /// transaction.
    pub fn settle(&mut self, word: &str) {
        self.known.retain(|known| known.lasts == Lasts::Connection || known.word.as_ref() == word);
    }

    /// Whether there are words of which the server has one set at most.
    pub fn are_unsettled(&self) -> bool {
        self.known.iter().any(|known| known.lasts == Lasts::Session)
    }
}
