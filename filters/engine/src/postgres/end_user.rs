//! The end user's token on its way to the server: a word of ours goes in its place, so that the server keeps what is set
//! and takes it back as it does with any setting, and never sees the token.

use std::borrow::Cow;
use std::collections::VecDeque;

use fieldveil_pg_wire::frontend::Bind;
use fieldveil_pg_wire::startup::StartupMessage;
use fieldveil_sql::identity::{self, Comment};
use zeroize::Zeroizing;

use super::{Session, Settings};
use crate::client_error::ClientError;
use crate::ports::Ports;

/// Tokens that a session remembers, the newest.
const MAX_TOKENS: usize = 64;
/// Bytes of a token.
const MAX_TOKEN: usize = 16 << 10;
/// Bytes of a purpose.
pub(super) const MAX_PURPOSE: usize = 256;
/// What every word begins with.
const WORD: &str = "fieldveil-";

/// The tokens of a session, each with the word that the server knows in its place: random, so that nobody who has not
/// given the token can give the word. It holds tokens: no `Debug`.
#[derive(Default)]
pub(super) struct Words {
    known: VecDeque<(String, Zeroizing<String>)>,
}

impl Words {
    /// The word for a token; the same for the same token.
    pub fn take(&mut self, token: &str, ports: &mut dyn Ports) -> Result<String, ClientError> {
        if token.len() > MAX_TOKEN {
            return Err(ClientError::limit(
                "fieldveil.token is longer than the 16 KiB that are read of one",
                "Ask for a token with fewer claims.",
            ));
        }
        let known = self.known.iter().position(|(_, known)| known.as_str() == token);
        let (word, token) = match known.and_then(|index| self.known.remove(index)) {
            Some(known) => known,
            None => {
                let mut random = [0; 16];
                ports.fill(&mut random);
                let word = random.iter().fold(String::from(WORD), |word, byte| format!("{word}{byte:02x}"));
                (word, Zeroizing::new(token.to_owned()))
            }
        };
        if self.known.len() >= MAX_TOKENS {
            self.known.pop_front();
        }
        self.known.push_back((word.clone(), token));
        Ok(word)
    }

    /// The token that a word stands for.
    pub fn token(&self, word: &str) -> Option<&str> {
        self.known.iter().find(|(known, _)| known == word).map(|(_, token)| token.as_str())
    }
}

/// What a text says of the end user, beside what was replaced in it. It holds a token: no `Debug`.
#[derive(Default)]
pub(super) struct Said {
    /// In its comments.
    pub comment: Comment,
    /// Parameters that carry a token.
    parameters: Vec<u16>,
    /// It may set what its parameters name.
    sets_by_name: bool,
}

impl Said {
    /// Whether its parameters are to be looked at.
    pub fn reads_parameters(&self) -> bool {
        self.sets_by_name || !self.parameters.is_empty()
    }
}

/// Whether a text holds a word that stands for a token: it is nobody else's.
pub(crate) fn holds_word(text: &str) -> bool {
    text.contains(WORD)
}

impl Settings {
    /// The text, if the server reads it as it does under the settings that statements are read with: ASCII is the same in
    /// each encoding, and without a backslash strings end where they seem to.
    fn read_alike<'t>(&self, text: &'t [u8]) -> Result<&'t str, ClientError> {
        let alike = (self.utf8 || text.is_ascii()) && (self.standard_strings || !text.contains(&b'\\'));
        if !alike {
            self.readable()?;
        }
        std::str::from_utf8(text).map_err(|_| {
            ClientError::unsupported("the statement is not UTF-8 text", "Use client_encoding UTF8.")
        })
    }
}

impl Session {
    /// The text as the server may have it, and what it says of the end user.
    pub(super) fn identify<'t>(&mut self, text: &'t [u8]) -> Result<(Cow<'t, [u8]>, Said), ClientError> {
        let said = Said { sets_by_name: identity::calls_set_config(text), ..Said::default() };
        if !identity::mentions(text) {
            return Ok((Cow::Borrowed(text), said));
        }
        let read = match self.settings.read_alike(text) {
            Ok(read) => read,
            Err(error) if identity::may_say_token(text) => return Err(error),
            Err(_) => return Ok((Cow::Borrowed(text), said)),
        };
        let found = identity::identify(read).map_err(|refusal| ClientError::refused(&refusal, &[]))?;
        let mut replaced = Vec::new();
        for token in &found.tokens {
            let word = self.identity.words.take(&token.value, &mut *self.ports.borrow_mut())?;
            replaced.push((token.range.clone(), format!("'{word}'")));
        }
        replaced.extend(found.comment_tokens.iter().map(|range| (range.clone(), "x".repeat(range.len()))));
        replaced.sort_by_key(|(range, _)| range.start);
        let said = Said { comment: bounded(found.comment), parameters: found.parameters, ..said };
        if replaced.is_empty() {
            return Ok((Cow::Borrowed(text), said));
        }
        let mut rewritten = read.to_owned();
        for (range, with) in replaced.into_iter().rev() {
            rewritten.replace_range(range, &with);
        }
        Ok((Cow::Owned(rewritten.into_bytes()), said))
    }

    /// The StartupMessage as the server may have it, where it says something of the end user; None if as it came.
    pub(super) fn identify_startup(
        &mut self,
        startup: &mut StartupMessage,
    ) -> Result<Option<Vec<u8>>, ClientError> {
        // A backslash in the options stands before what is to be taken as it is.
        let options = startup.parameter("options").unwrap_or_default().replace('\\', "");
        if identity::names_token(options.as_bytes()) {
            return Err(ClientError::unsupported(
                "the connection's options name fieldveil.token, and would show it to the server",
                "Send fieldveil.token as a parameter of its own, or SET it when the session is up.",
            ));
        }
        let mut replaced = false;
        for (name, value) in &mut startup.parameters {
            if identity::mentions(name.as_bytes()) {
                self.identity.spoken_of();
            }
            if identity::names_token(name.as_bytes()) && !value.is_empty() {
                *value = self.identity.words.take(value, &mut *self.ports.borrow_mut())?;
                replaced = true;
            }
        }
        if identity::mentions(options.as_bytes()) {
            self.identity.spoken_of();
        }
        let mut rewritten = Vec::new();
        match replaced {
            true => startup
                .encode(&mut rewritten)
                .map(|()| Some(rewritten))
                .map_err(|error| ClientError::protocol(&error.to_string())),
            false => Ok(None),
        }
    }

    /// Puts words in the place of the tokens among the values. Returns whether there were any.
    pub(super) fn identify_values(&mut self, bind: &mut Bind<'_>, said: &Said) -> Result<bool, ClientError> {
        let mut replaced = false;
        for (index, value) in bind.values.iter_mut().enumerate() {
            let Some(bytes) = value else { continue };
            let carries =
                said.parameters.iter().any(|number| usize::from(*number) == index.saturating_add(1));
            if carries && !bytes.is_empty() {
                let token = std::str::from_utf8(bytes).map_err(|_| {
                    ClientError::unsupported("fieldveil.token is not UTF-8 text", "Send the JWT as text.")
                })?;
                let word = self.identity.words.take(token, &mut *self.ports.borrow_mut())?;
                *value = Some(Cow::Owned(word.into_bytes()));
                replaced = true;
            } else if !carries && said.sets_by_name && identity::names_token(bytes) {
                return Err(ClientError::unsupported(
                    "a parameter names fieldveil.token, and another could carry a token",
                    "Write the name into the text: SELECT set_config('fieldveil.token', $1, true).",
                ));
            }
        }
        Ok(replaced)
    }
}

/// What is too long is not understood.
fn bounded(comment: Comment) -> Comment {
    match comment {
        Comment::Says { purpose, token } if purpose.len() > MAX_PURPOSE || token.len() > MAX_TOKEN => {
            Comment::Malformed
        }
        comment => comment,
    }
}
