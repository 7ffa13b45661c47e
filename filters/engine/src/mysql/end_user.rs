//! The end user's token on its way to the server: a word of ours goes in its place, so that the server keeps what is set,
//! and never sees the token.

use std::borrow::Cow;

use fieldveil_mysql_wire::command::{ParameterType, ParameterValue, StmtExecute};
use fieldveil_sql::identity::{self, Comment};
use fieldveil_values::mysql::CharacterSet;

use super::long_data::Ahead;
use super::session_settings::read_alike;
use super::sql_context::SqlContext;
use super::statements::Statement;
use crate::client_error::ClientError;
use crate::database::{Core, Replaced};
use crate::token_words::{Given, Lasts};

/// What a text says of the end user, beside what was replaced in it. It holds a token: no `Debug`.
#[derive(Default)]
pub struct EndUserMentions {
    /// In its comments.
    pub comment: Comment,
    /// In its literals.
    pub given: Vec<Given>,
    /// The parameters that carry a token, from 0 on.
    parameters: Vec<u16>,
}

/// A text as the server may have it. It may hold values: no `Debug`.
pub struct IdentifiedText<'t> {
    /// In UTF-8, or with bytes that UTF-8 never has in the place of what cannot be read.
    pub text: Cow<'t, [u8]>,
    /// It says something else than the client's text.
    pub is_rewritten: bool,
    /// What the client's text says of the end user.
    pub mentions: EndUserMentions,
}

impl EndUserMentions {
    /// Whether its parameters say something.
    pub fn has_parameters(&self) -> bool {
        !self.parameters.is_empty()
    }

    /// Bytes of the tokens that it holds.
    pub fn len(&self) -> usize {
        self.given.iter().fold(0, |sum, given| sum.saturating_add(given.len()))
    }

    /// Whether this parameter, from 0 on, carries a token.
    pub fn is_token(&self, parameter: u16) -> bool {
        self.parameters.contains(&parameter)
    }
}

impl SqlContext {
    /// Whether the server must say how a text is read before what it says of the end user can be read.
    pub fn must_know_to_identify(&self, core: &Core, text: &[u8]) -> bool {
        identity::may_mention(text) && !self.knows_settings(core) && read_alike(text).is_none()
    }

    /// Whether what the server said of the session's settings still holds.
    fn knows_settings(&self, core: &Core) -> bool {
        self.settings.is_known && core.identity.is_settled()
    }

    /// The text as the server may have it, in UTF-8, and what it says of the end user. It is the one that is to be checked.
    pub fn identify<'t>(&self, core: &mut Core, text: &'t [u8]) -> Result<IdentifiedText<'t>, ClientError> {
        let protects = core.policy.plan.as_ref().is_some_and(|plan| !plan.fields.is_empty());
        let rewritten = protects.then(|| self.settings.rewritten(text)).flatten();
        let mut is_rewritten = rewritten.is_some();
        let decoded = match rewritten {
            // It was decoded by what may have changed since: what was not is not mistaken for it.
            _ if !self.knows_settings(core) => CharacterSet::UNKNOWN.decode(text),
            Some(rewritten) => Cow::Owned(self.settings.decode(&rewritten).into_owned()),
            None => self.settings.decode(text),
        };
        let (replaced, mentions) = self.identified(core, &decoded)?;
        let text = match replaced {
            Cow::Borrowed(_) => decoded,
            Cow::Owned(replaced) => {
                is_rewritten = true;
                Cow::Owned(replaced)
            }
        };
        Ok(IdentifiedText { text, is_rewritten, mentions })
    }

    fn identified<'t>(
        &self,
        core: &mut Core,
        text: &'t [u8],
    ) -> Result<(Cow<'t, [u8]>, EndUserMentions), ClientError> {
        if !identity::may_mention(text) {
            return Ok((Cow::Borrowed(text), EndUserMentions::default()));
        }
        let read = match read_alike(text).map_or_else(|| self.settings.text(text), Ok) {
            Ok(read) => read,
            Err(error) if identity::may_say_token(text) => return Err(error),
            Err(_) => return Ok((Cow::Borrowed(text), EndUserMentions::default())),
        };
        let found = identity::identify(read, self.settings.dialect());
        let mut found = found.map_err(|refusal| ClientError::refused(&refusal, &[]))?;
        let parameters = std::mem::take(&mut found.parameters);
        let parameters = parameters.iter().filter_map(|parameter| parameter.number.checked_sub(1)).collect();
        let Replaced { text, given, comment } =
            core.identity.replace_tokens(read, found, &mut *core.ports.borrow_mut())?;
        Ok((text, EndUserMentions { comment, given, parameters }))
    }
}

/// Puts words in the place of the tokens among the values of an execution.
pub(super) fn identify_values(
    core: &mut Core,
    execution: &mut StmtExecute<'_>,
    statement: &Statement,
) -> Result<(), ClientError> {
    let ahead = statement.long_data.borrow();
    for (index, parameter) in (0..).zip(&mut execution.parameters) {
        if !statement.mentions.is_token(index) {
            continue;
        }
        let token: &[u8] = match &parameter.value {
            ParameterValue::Null => continue,
            ParameterValue::Value(value) => value,
            ParameterValue::LongData => match ahead.get(index) {
                Some(Ahead::Kept(value)) => value,
                _ => {
                    return Err(ClientError::limit(
                        "the token is too long",
                        "Ask for one with fewer claims.",
                    ));
                }
            },
        };
        let token = std::str::from_utf8(token).map_err(|_| {
            ClientError::unsupported("@fieldveil_token is not UTF-8 text", "Send the JWT as text.")
        })?;
        let word = match token {
            "" => Vec::new(),
            token => {
                let ports = &mut *core.ports.borrow_mut();
                let given = core.identity.words.take(token, Lasts::Session, ports)?;
                given.word.as_bytes().to_vec()
            }
        };
        parameter.parameter_type = ParameterType::STRING;
        parameter.value = ParameterValue::Value(Cow::Owned(word));
    }
    Ok(())
}
