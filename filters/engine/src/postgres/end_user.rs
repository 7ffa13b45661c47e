//! Replaces the end user's token on its way to the server by a word of the filter's. The server keeps the word, and undoes the
//! setting, as it does with any other setting, and never sees the token.

use std::borrow::Cow;

use fieldveil_postgres_wire::frontend::Bind;
use fieldveil_postgres_wire::startup::StartupMessage;
use fieldveil_sql::{
    Dialect,
    identity::{self, Comment, TokenParameter},
};

use super::settings::Settings;
use crate::client_error::ClientError;
use crate::database::{Core, Replaced};
use crate::token_words::{Given, Lasts};

/// What a text says of the end user, beside what was replaced in it. It holds a token: no `Debug`.
#[derive(Default)]
pub(super) struct EndUserMentions {
    /// In its comments.
    pub comment: Comment,
    /// In its literals.
    given: Vec<Given>,
    /// Parameters that carry a token.
    parameters: Vec<TokenParameter>,
    /// It may set what its parameters name.
    sets_by_name: bool,
}

impl EndUserMentions {
    /// Whether its parameters are to be looked at.
    pub fn reads_parameters(&self) -> bool {
        self.sets_by_name || !self.parameters.is_empty()
    }

    /// The words that the server gets in the place of its tokens, each time that the text is executed.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// Bytes of the tokens that it holds.
    pub fn len(&self) -> usize {
        self.given.iter().fold(0, |sum, given| sum.saturating_add(given.len()))
    }
}

/// The text as the server may have it, and what it says of the end user.
pub(super) fn identify<'t>(
    core: &mut Core,
    settings: &Settings,
    text: &'t [u8],
) -> Result<(Cow<'t, [u8]>, EndUserMentions), ClientError> {
    let said =
        EndUserMentions { sets_by_name: identity::calls_set_config(text), ..EndUserMentions::default() };
    if !identity::mentions(text) {
        return Ok((Cow::Borrowed(text), said));
    }
    let read = match std::str::from_utf8(text) {
        Ok(read) => read,
        Err(_) if identity::may_say_token(text) => {
            return Err(settings.encoding.now().unreadable_statement(text));
        }
        Err(_) => return Ok((Cow::Borrowed(text), said)),
    };
    let mut found =
        identity::identify(read, Dialect::Postgres).map_err(|refusal| ClientError::refused(&refusal, &[]))?;
    let parameters = std::mem::take(&mut found.parameters);
    let Replaced { text, given, comment } =
        core.identity.replace_tokens(read, found, &mut *core.ports.borrow_mut())?;
    Ok((text, EndUserMentions { comment, given, parameters, ..said }))
}

/// The StartupMessage as the server may have it, where it says something of the end user; None if as it came.
pub(super) fn identify_startup(
    core: &mut Core,
    startup: &mut StartupMessage,
) -> Result<Option<Vec<u8>>, ClientError> {
    // A backslash in the options stands before what is to be taken as it is.
    let options = startup.parameter("options").unwrap_or_default().replace('\\', "");
    if identity::names_token(options.as_bytes(), Dialect::Postgres) {
        return Err(ClientError::unsupported(
            "the connection's options name fieldveil.token, and would show it to the server",
            "Send fieldveil.token as a parameter of its own, or SET it when the session is up.",
        ));
    }
    let mut replaced = false;
    for (name, value) in &mut startup.parameters {
        if identity::mentions(name.as_bytes()) {
            core.identity.spoken_of = true;
        }
        if identity::names_token(name.as_bytes(), Dialect::Postgres) && !value.is_empty() {
            let given = core.identity.words.take(value, Lasts::Connection, &mut *core.ports.borrow_mut())?;
            *value = given.word.to_string();
            replaced = true;
        }
    }
    if identity::mentions(options.as_bytes()) {
        core.identity.spoken_of = true;
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
pub(super) fn identify_values(
    core: &mut Core,
    bind: &mut Bind<'_>,
    said: &EndUserMentions,
) -> Result<bool, ClientError> {
    let mut replaced = false;
    for (index, value) in bind.values.iter_mut().enumerate() {
        let Some(bytes) = value else { continue };
        let here = |carries: &&TokenParameter| usize::from(carries.number) == index.saturating_add(1);
        let carries = said.parameters.iter().filter(here).map(|carries| Lasts::of(carries.local)).max();
        if let Some(lasts) = carries.filter(|_| !bytes.is_empty()) {
            let token = std::str::from_utf8(bytes).map_err(|_| {
                ClientError::unsupported("fieldveil.token is not UTF-8 text", "Send the JWT as text.")
            })?;
            let given = core.identity.words.take(token, lasts, &mut *core.ports.borrow_mut())?;
            *value = Some(Cow::Owned(given.word.as_bytes().to_vec()));
            replaced = true;
        } else if carries.is_none() && said.sets_by_name && identity::names_token(bytes, Dialect::Postgres) {
            return Err(ClientError::unsupported(
                "a parameter names fieldveil.token, and another could carry a token",
                "Write the name into the text: SELECT set_config('fieldveil.token', $1, true).",
            ));
        }
    }
    Ok(replaced)
}
