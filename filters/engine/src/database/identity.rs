//! Who the session is for now. Only the server knows the present values of the settings that a client may change, so it is asked
//! for them; in the place of tokens it has words.

use std::borrow::Cow;

use fieldveil_plan::SessionInput;
use fieldveil_sql::identity::{Comment, Identity as Found};

use super::Core;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::ports::Ports;
use crate::server_catalog::MAX_AGE_MS;
use crate::token_words::{Given, Lasts, MAX_PURPOSE, MAX_TOKEN, TokenWords};

/// The token of a session whose word the filter does not know. The policy refuses it, like every token that is no JWT.
const UNKNOWN: &str = "unknown";

/// What is known of the session's identity, and since when.
pub(crate) struct SessionIdentity {
    /// Whether the server must be asked before a statement that may depend on the identity.
    due: bool,
    read_ms: u64,
    /// Whether the client has named an end user, so that the identity matters also where nothing is protected.
    pub spoken_of: bool,
    /// The tokens that the client gave.
    pub words: TokenWords,
}

impl Default for SessionIdentity {
    /// Makes the identity of a new session. The server may have settings of its own for it, so it is asked first.
    fn default() -> Self {
        Self { due: true, read_ms: 0, spoken_of: false, words: TokenWords::default() }
    }
}

impl SessionIdentity {
    /// Notes that the identity may have changed.
    pub fn may_change(&mut self) {
        self.due = true;
    }

    /// Whether what the server said last of the session holds as far as the session's own statements tell.
    pub fn is_settled(&self) -> bool {
        !self.due
    }

    /// Whether the server must be asked before a statement that depends on the session's identity.
    pub fn is_due(&self, plan: &CompiledPlan, now_ms: u64) -> bool {
        let age = now_ms.saturating_sub(self.read_ms);
        let matters = !plan.fields.is_empty() || self.spoken_of;
        matters && (self.due || age > MAX_AGE_MS)
    }

    /// Replaces the tokens in the text's literals by words, and removes those in its comments.
    pub fn replace_tokens<'t>(
        &mut self,
        text: &'t str,
        found: Found,
        ports: &mut dyn Ports,
    ) -> Result<Replaced<'t>, ClientError> {
        let (mut replaced, mut given) = (Vec::new(), Vec::new());
        for token in &found.tokens {
            let lasts = Lasts::of(token.local);
            let taken = self.words.take(&token.value, lasts, ports)?;
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
}

/// A text in which words have replaced the tokens, with what it says of the end user. It holds tokens: no `Debug`.
pub(crate) struct Replaced<'t> {
    pub text: Cow<'t, [u8]>,
    pub given: Vec<Given>,
    pub comment: Comment,
}

impl Core {
    /// Takes over the server's response: who the session is for, and which word stands for its token. `purpose` is the name of the
    /// setting for the purpose.
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
        let mut input = self.policy.input.clone();
        token.clone_into(&mut input.token);
        input.session = session;
        self.policy.change_input(input);
        self.identity.due = false;
        self.identity.read_ms = self.now_ms;
        self.worker.borrow_mut().count("identity.reads", 1);
        Ok(())
    }
}

/// The error for a token or a purpose that is too long.
fn bounded(comment: Comment) -> Comment {
    match comment {
        Comment::Says { purpose, token } if purpose.len() > MAX_PURPOSE || token.len() > MAX_TOKEN => {
            Comment::Malformed
        }
        comment => comment,
    }
}
