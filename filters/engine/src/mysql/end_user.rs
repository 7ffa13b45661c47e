//! The end user's token on its way to the server: a word of ours goes in its place, so that the server keeps what is set,
//! and never sees the token.

use std::borrow::Cow;

use fieldveil_sql::identity::{self, Comment};

use super::Session;
use super::reads::read_alike;
use crate::client_error::ClientError;
use crate::database::{Given, Replaced};

/// What a text says of the end user, beside what was replaced in it. It holds a token: no `Debug`.
#[derive(Default)]
pub struct Said {
    /// In its comments.
    pub comment: Comment,
    /// In its literals.
    given: Vec<Given>,
}

impl Session {
    /// Whether the server must say how a text is read before what it says of the end user can be read.
    pub(super) fn must_know_to_identify(&self, text: &[u8]) -> bool {
        identity::mentions(text) && !self.reads.is_known && read_alike(text).is_none()
    }

    /// The text as the server may have it, and what it says of the end user. It is the one that is to be checked.
    pub(super) fn identify<'t>(&mut self, text: &'t [u8]) -> Result<(Cow<'t, [u8]>, Said), ClientError> {
        let protects = self.core.plan.as_ref().is_some_and(|plan| !plan.fields.is_empty());
        let Some(rewritten) = protects.then(|| self.reads.rewritten(text)).flatten() else {
            return self.identified(text);
        };
        let (text, said) = self.identified(rewritten.as_bytes())?;
        Ok((Cow::Owned(text.into_owned()), said))
    }

    fn identified<'t>(&mut self, text: &'t [u8]) -> Result<(Cow<'t, [u8]>, Said), ClientError> {
        if !identity::mentions(text) {
            return Ok((Cow::Borrowed(text), Said::default()));
        }
        let read = match read_alike(text).map_or_else(|| self.reads.text(text), Ok) {
            Ok(read) => read,
            Err(error) if identity::may_say_token(text) => return Err(error),
            Err(_) => return Ok((Cow::Borrowed(text), Said::default())),
        };
        let found = identity::identify(read, self.reads.dialect());
        let found = found.map_err(|refusal| ClientError::refused(&refusal, &[]))?;
        if !found.parameters.is_empty() {
            return Err(ClientError::unsupported(
                "a parameter carries @fieldveil_token",
                "Write the token into the text: SET @fieldveil_token = '…'.",
            ));
        }
        let Replaced { text, given, comment } = self.core.replace_tokens(read, found)?;
        Ok((text, Said { comment, given }))
    }

    /// A text is about to be executed that was prepared with words in the place of tokens.
    pub(super) fn gives(&mut self, said: &Said) {
        self.core.gives(&said.given);
    }
}
