//! Who the end user behind the session is, as texts say it: the settings `fieldveil.token` and `fieldveil.purpose`,
//! set by SET or by `set_config`, and comments. No catalog is needed to read them.

mod calls;
mod comment;
mod spelling;
mod variables;

use std::ops::Range;

use zeroize::Zeroizing;

pub use self::comment::Comment;
use crate::{
    budget::Budget,
    dialect::Dialect,
    kind::{self, mysql},
    lex::{self, Kind, Style, Token},
    names,
    occurrence::occurs_anywhere,
    refusal::Refusal,
    segment::{self, Segment},
};

/// The setting that holds the end user's token, a JWT.
pub const TOKEN: &str = "fieldveil.token";
/// The setting that holds the purpose.
pub const PURPOSE: &str = "fieldveil.purpose";
/// The user variable that holds the token in MySQL and MariaDB, without its `@`.
pub const TOKEN_VARIABLE: &str = "fieldveil_token";
/// The user variable that holds the purpose there.
pub const PURPOSE_VARIABLE: &str = "fieldveil_purpose";
/// What all begin with.
const PREFIX: &str = "fieldveil";

/// What a text says of the end user. It holds tokens: no `Debug`.
#[derive(Default)]
pub struct Identity {
    /// The literals that are tokens, in the order of the text. The empty one is none.
    pub tokens: Vec<TokenLiteral>,
    /// The parameters that will carry tokens.
    pub parameters: Vec<TokenParameter>,
    /// What its comments say.
    pub comment: Comment,
    /// Where tokens stand in comments.
    pub comment_tokens: Vec<Range<usize>>,
}

/// A literal that is a token. It holds the token: no `Debug`.
pub struct TokenLiteral {
    /// Its bytes in the text, with the quotes.
    pub range: Range<usize>,
    /// The token.
    pub value: Zeroizing<String>,
    /// Whether it is set for the transaction alone.
    pub local: bool,
}

/// A parameter that carries a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenParameter {
    /// Its number, from 1 on.
    pub number: u16,
    /// Whether the token is set for the transaction alone.
    pub local: bool,
}

/// Whether a text may say anything of the end user.
pub fn mentions(text: &[u8]) -> bool {
    occurs_anywhere(text, PREFIX)
}

/// Whether a text of MySQL or MariaDB may say anything of the end user, whichever way it writes the variables' names.
pub fn may_mention(text: &[u8]) -> bool {
    mentions(text) || spelling::may_be_token(text)
}

/// Whether bytes hold the name of the token's setting, letter case aside.
pub fn names_token(bytes: &[u8], dialect: Dialect) -> bool {
    occurs_anywhere(bytes, token_name(dialect))
}

/// Whether a text that is not read may say the token: its setting's name can be written in parts, and in quotes.
pub fn may_say_token(text: &[u8]) -> bool {
    (mentions(text) && occurs_anywhere(text, "token")) || spelling::may_be_token(text)
}

/// Whether a text may set what its parameters name.
pub fn calls_set_config(text: &[u8]) -> bool {
    occurs_anywhere(text, "set_config")
}

/// What holds the end user's token: a setting, or a user variable.
fn token_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => TOKEN,
        Dialect::MySql(_) => TOKEN_VARIABLE,
    }
}

/// Whether a user variable's name may be one of ours to the server.
fn is_ours(name: &str) -> bool {
    let resembles = |own| names::resemble(name.trim_end(), own);
    name.starts_with(PREFIX) || resembles(TOKEN_VARIABLE) || resembles(PURPOSE_VARIABLE)
}

/// Reads what a text says of the end user.
///
/// # Errors
/// A [`Refusal`] when it may carry a token otherwise than it may: nothing of it may be forwarded then.
pub fn identify(text: &str, dialect: Dialect) -> Result<Identity, Refusal> {
    let mut identity = Identity::default();
    let may_say = if dialect.is_mysql() { may_mention } else { mentions };
    if !may_say(text.as_bytes()) {
        return Ok(identity);
    }
    let budget = Budget::new();
    let (Ok(tokens), Ok(segments)) = (lex::lex(text, dialect), segment::split(text, dialect, &budget)) else {
        return match may_say_token(text.as_bytes()) {
            true => Err(misplaced("the text's words and literals can't be told apart with certainty")),
            false => Ok(identity),
        };
    };
    let mut changed = false;
    for (index, segment) in segments.iter().enumerate() {
        match dialect {
            Dialect::Postgres => settings(segment, &mut identity)?,
            Dialect::MySql(_) => {
                variables::read(segment, &mut identity)?;
                // What is behind the first such statement is behind all that follow.
                if changed || !mysql::may_change_reading(segment) {
                    continue;
                }
                changed = true;
                let rest = segments.get(index.saturating_add(1)).and_then(|next| text.get(next.offset..));
                if rest.is_some_and(|rest| may_say_token(rest.as_bytes())) {
                    return Err(misplaced(
                        "one text changes how texts are read, and then names the end user",
                    ));
                }
            }
        }
    }
    comment::read(text, &lex::comments(text, &tokens, dialect), &mut identity)?;
    Ok(identity)
}

/// Whether every statement of a text says the same whoever the session is: SET, RESET, SHOW, DISCARD, transaction control,
/// and what sets the end user by `set_config`. In MySQL: SET, SHOW, transaction control, and SELECT without a table.
pub fn is_for_anybody(text: &str, dialect: Dialect) -> bool {
    let budget = Budget::new();
    if dialect.is_mysql() {
        let segments = segment::split(text, dialect, &budget);
        return segments.is_ok_and(|segments| segments.iter().all(variables::is_for_anybody));
    }
    let control = [
        "set",
        "reset",
        "show",
        "discard",
        "begin",
        "start",
        "commit",
        "end",
        "rollback",
        "abort",
        "savepoint",
        "release",
    ];
    let is = |segment: &Segment<'_>| control.contains(&segment.word(0)) || sets_own_alone(segment);
    segment::split(text, dialect, &budget).is_ok_and(|segments| segments.iter().all(is))
}

/// Whether it is a SELECT that does nothing but set settings of ours by `set_config`.
pub(crate) fn sets_own_alone(segment: &Segment<'_>) -> bool {
    segment.is_word(0, "select")
        && calls::read(segment).is_some_and(|calls| calls.iter().all(|call| call.sets_own(segment)))
}

/// Whether a text begins a transaction block.
pub fn begins_transaction(text: &str, dialect: Dialect) -> bool {
    let begins = |segment: &Segment<'_>| match dialect {
        Dialect::Postgres => matches!(segment.word(0), "begin" | "start"),
        Dialect::MySql(_) => mysql::begins_transaction(segment),
    };
    segment::split(text, dialect, &Budget::new()).is_ok_and(|segments| segments.iter().any(begins))
}

/// Whether a text of several statements ends a transaction before all else.
#[must_use]
pub fn ends_transaction_first(text: &str, dialect: Dialect) -> bool {
    let ends =
        |segments: &[Segment<'_>]| segments.len() > 1 && segments.first().is_some_and(kind::ends_transaction);
    segment::split(text, dialect, &Budget::new()).is_ok_and(|segments| ends(&segments))
}

/// Whether the session may be another principal's after the statement.
pub(crate) fn changes(segment: &Segment<'_>) -> bool {
    if segment.dialect.is_mysql() {
        return variables::changes(segment);
    }
    let has = |name| segment.tokens.iter().any(|token| token.name() == Some(name));
    match segment.word(0) {
        "reset" | "discard" => true,
        "set" => {
            let first = usize::from(matches!(segment.word(1), "session" | "local")).saturating_add(1);
            let name = segment.tokens.get(first).and_then(Token::name).unwrap_or_default();
            let name = name.to_ascii_lowercase();
            let is_role = ["role", "session", "session_authorization", "authorization"];
            name == "application_name" || name.starts_with(PREFIX) || is_role.contains(&name.as_str())
        }
        _ => has("set_config") || has("pg_settings") || kind::ends_transaction(segment),
    }
}

/// One statement.
fn settings(segment: &Segment<'_>, identity: &mut Identity) -> Result<(), Refusal> {
    match segment.word(0) {
        "set" => {
            let first = usize::from(matches!(segment.word(1), "session" | "local")).saturating_add(1);
            if let Some(behind) = token_setting(segment, first) {
                return set(segment, behind, identity);
            }
        }
        "reset" | "show" if token_setting(segment, 1) == Some(segment.tokens.len()) => return Ok(()),
        "select" => {
            if let Some(calls) = calls::read(segment) {
                return calls::take(segment, &calls, identity);
            }
        }
        _ => {}
    }
    if mentions_token(segment, 0..segment.tokens.len()) {
        return Err(misplaced("it names fieldveil.token in a place where it could carry a token"));
    }
    Ok(())
}

/// `SET [SESSION | LOCAL] fieldveil.token {= | TO} {'literal' | DEFAULT}`, from behind the name on.
fn set(segment: &Segment<'_>, behind: usize, identity: &mut Identity) -> Result<(), Refusal> {
    let value = behind.saturating_add(1);
    let assigns = segment.is_symbol(behind, "=") || segment.is_word(behind, "to");
    let ends = segment.tokens.len() == value.saturating_add(1);
    let wrong = || misplaced("SET fieldveil.token takes one literal in quotes, or DEFAULT");
    let token = segment.tokens.get(value).filter(|_| assigns && ends).ok_or_else(wrong)?;
    match &token.kind {
        Kind::Word { value, quoted: false } if value == "default" => Ok(()),
        Kind::Text { value, style } if *style != Style::Other => {
            identity.push(segment, token, value, segment.is_word(1, "local"));
            Ok(())
        }
        _ => Err(wrong()),
    }
}

impl Identity {
    fn push(&mut self, segment: &Segment<'_>, token: &Token, value: &str, local: bool) {
        if !value.is_empty() {
            let (start, end) = (token.range.start, token.range.end);
            let range = start.saturating_add(segment.offset)..end.saturating_add(segment.offset);
            self.tokens.push(TokenLiteral { range, value: Zeroizing::new(value.to_owned()), local });
        }
    }
}

/// Where the name of the token's setting ends that begins at a token. Settings' names are told apart without regard to
/// case, also in quotes.
fn token_setting(segment: &Segment<'_>, index: usize) -> Option<usize> {
    let name = |index: usize| segment.tokens.get(index).and_then(Token::name);
    let (dot, second) = (index.saturating_add(1), index.saturating_add(2));
    if name(index)?.eq_ignore_ascii_case(TOKEN) {
        return Some(dot);
    }
    let parts = name(index)?.eq_ignore_ascii_case(PREFIX)
        && segment.is_symbol(dot, ".")
        && name(second)?.eq_ignore_ascii_case("token");
    parts.then(|| second.saturating_add(1))
}

/// Whether a part of a statement of no known form names the setting: in its words, in its strings, or, where it sets what it
/// computes, in parts. To read the setting is harmless: it holds no token.
fn mentions_token(segment: &Segment<'_>, part: Range<usize>) -> bool {
    let tokens = segment.tokens.get(part.clone()).unwrap_or_default();
    let has_set_config = tokens.iter().any(|token| token.name() == Some("set_config"));
    part.zip(tokens).any(|(index, token)| match &token.kind {
        Kind::Word { value, .. } => {
            occurs_anywhere(value.as_bytes(), TOKEN) || token_setting(segment, index).is_some()
        }
        Kind::Text { value, .. } => {
            let reads = index >= 2
                && segment.is_word(index.saturating_sub(2), "current_setting")
                && segment.is_symbol(index.saturating_sub(1), "(");
            let is_read = reads && value.eq_ignore_ascii_case(TOKEN);
            let computes = has_set_config
                && occurs_anywhere(value.as_bytes(), PREFIX)
                && !value.eq_ignore_ascii_case(PURPOSE);
            (occurs_anywhere(value.as_bytes(), TOKEN) || computes) && !is_read
        }
        Kind::Number | Kind::Parameter(_) | Kind::Variable { .. } | Kind::Symbol => false,
    })
}

fn misplaced(reason: &str) -> Refusal {
    Refusal::unsupported(
        reason,
        "say who the end user is with SET fieldveil.token = '…', or SELECT set_config('fieldveil.token', $1, true), so that the token does not reach the server",
    )
}
