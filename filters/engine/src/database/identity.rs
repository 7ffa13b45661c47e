//! Who the session is for now, as the server has it: it alone knows what became of what the client has set. It is asked
//! for words in the place of tokens.

use std::borrow::Cow;

use fieldveil_plan::SessionInput;
use fieldveil_sql::identity::{Comment, Identity as Found};

use super::{Core, Given, Lasts, MAX_AGE_MS, MAX_PURPOSE, MAX_TOKEN, TokenWords};
use crate::client_error::ClientError;
use crate::fetch::PrincipalKey;
use crate::field::CompiledPlan;

/// The token of a session whose word stands for none that it knows: policy refuses it, as it does any that is no JWT.
const UNKNOWN: &str = "unknown";

/// What is known of it, and how old that is.
pub(crate) struct SessionIdentity {
    /// The server must be asked before a statement that may depend on it.
    due: bool,
    read_ms: u64,
    /// The client has said something of it: from then on it matters also where nothing is protected.
    pub spoken_of: bool,
    /// The tokens that the client gave.
    pub words: TokenWords,
}

impl Default for SessionIdentity {
    /// Of a new session: the server may have its own settings for it, so it is asked first.
    fn default() -> Self {
        Self { due: true, read_ms: 0, spoken_of: false, words: TokenWords::default() }
    }
}

impl SessionIdentity {
    /// It may be another now.
    pub fn may_change(&mut self) {
        self.due = true;
    }
}

/// What a text says of the end user, with words in the place of its tokens. It holds tokens: no `Debug`.
pub(crate) struct Replaced<'t> {
    pub text: Cow<'t, [u8]>,
    pub given: Vec<Given>,
    pub comment: Comment,
}

impl Core {
    /// Whether the server is to be asked before a statement that depends on who the session is for.
    pub fn identity_is_due(&self, plan: &CompiledPlan) -> bool {
        let age = self.now_ms.saturating_sub(self.identity.read_ms);
        let matters = !plan.fields.is_empty() || self.identity.spoken_of;
        matters && (self.identity.due || age > MAX_AGE_MS)
    }

    /// The server has said who the session is for, and which word it has in the place of a token. `purpose` is the name of
    /// what the client sets for it.
    pub fn identity_read(
        &mut self,
        word: &str,
        session: SessionInput,
        purpose: &str,
    ) -> Result<(), ClientError> {
        if session.purpose.len() > MAX_PURPOSE {
            return Err(ClientError::limit(
                &format!("{purpose} is longer than the {MAX_PURPOSE} bytes that are read of it"),
                &format!("SET {purpose} to a shorter word."),
            ));
        }
        let token = match word {
            "" => "",
            word => self.identity.words.token(word).unwrap_or(UNKNOWN),
        };
        let mut input = self.input.clone();
        token.clone_into(&mut input.token);
        input.session = session;
        if input != self.input {
            self.principal = Some(PrincipalKey::new(&input));
            self.input = input;
        }
        self.identity.due = false;
        self.identity.read_ms = self.now_ms;
        self.worker.borrow_mut().count("identity.reads", 1);
        Ok(())
    }

    /// Puts words in the place of the tokens that were found in the text's literals, and nothing in that of those in its
    /// comments.
    pub fn replace_tokens<'t>(&mut self, text: &'t str, found: Found) -> Result<Replaced<'t>, ClientError> {
        let (mut replaced, mut given) = (Vec::new(), Vec::new());
        for token in &found.tokens {
            let lasts = Lasts::of(token.local);
            let taken = self.identity.words.take(&token.value, lasts, &mut *self.ports.borrow_mut())?;
            replaced.push((token.range.clone(), format!("'{}'", taken.word)));
            given.push(taken);
        }
        replaced.extend(found.comment_tokens.iter().map(|range| (range.clone(), "x".repeat(range.len()))));
        replaced.sort_by_key(|(range, _)| range.start);
        let comment = bounded(found.comment);
        if replaced.is_empty() {
            return Ok(Replaced { text: Cow::Borrowed(text.as_bytes()), given, comment });
        }
        let mut rewritten = Vec::with_capacity(text.len());
        let mut position = 0;
        for (range, with) in replaced {
            rewritten.extend_from_slice(text.get(position..range.start).unwrap_or_default().as_bytes());
            rewritten.extend_from_slice(with.as_bytes());
            position = range.end;
        }
        rewritten.extend_from_slice(text.get(position..).unwrap_or_default().as_bytes());
        Ok(Replaced { text: Cow::Owned(rewritten), given, comment })
    }

    /// A text is about to be executed that was prepared with words in the place of tokens.
    pub fn gives(&mut self, given: &[Given]) {
        given.iter().for_each(|given| self.identity.words.give(given));
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
