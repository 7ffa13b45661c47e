//! `SET @fieldveil_token = '…'`: how a MySQL or MariaDB session says who the end user is.

use super::{Identity, TOKEN_VARIABLE, TokenParameter, is_ours, occurs_anywhere, spelling};
use crate::{
    kind::mysql::{
        self,
        set::{self, Assignment, Target},
    },
    lex::{Kind, Style},
    names,
    refusal::Refusal,
    segment::Segment,
};

/// One statement of a text.
pub(super) fn read(segment: &Segment<'_>, identity: &mut Identity) -> Result<(), Refusal> {
    if segment.is_word(0, "set") && set::for_statement(segment).is_none() {
        for assignment in set::assignments(segment) {
            assigned(segment, &assignment, identity)?;
        }
        return Ok(());
    }
    let mentions = (0..segment.tokens.len()).any(|index| says(segment, index));
    if mentions && !only_reads(segment) {
        return Err(misplaced("it names @fieldveil_token in a place where it could carry a token"));
    }
    Ok(())
}

/// One assignment of a SET.
fn assigned(
    segment: &Segment<'_>,
    Assignment { target, value }: &Assignment,
    identity: &mut Identity,
) -> Result<(), Refusal> {
    let is_token = matches!(target, Target::User(name) if name == TOKEN_VARIABLE);
    let elsewhere = value.clone().any(|index| says(segment, index));
    let (Target::User(name) | Target::System(name) | Target::Special(name)) = target;
    let resembles = may_be_token(name) && !is_token;
    if elsewhere || resembles {
        return Err(misplaced("SET names @fieldveil_token in another way than as @fieldveil_token = '…'"));
    }
    if !is_token {
        return Ok(());
    }
    let wrong = || misplaced("SET @fieldveil_token takes one literal in quotes, one parameter, or NULL");
    if value.len() != 1 {
        return Err(wrong());
    }
    let token = segment.tokens.get(value.start).ok_or_else(wrong)?;
    match &token.kind {
        Kind::Word { value, quoted: false } if value == "null" => Ok(()),
        Kind::Text { value, style: Style::Plain } => {
            identity.push(segment, token, value, false);
            Ok(())
        }
        Kind::Parameter(Some(number)) => {
            identity.parameters.push(TokenParameter { number: *number, local: false });
            Ok(())
        }
        _ => Err(wrong()),
    }
}

/// Whether a token is the variable, or a string that holds its name: code, or a name that is put together.
fn says(segment: &Segment<'_>, index: usize) -> bool {
    segment.tokens.get(index).is_some_and(|token| match &token.kind {
        Kind::Variable { name, system: _ } => may_be_token(name),
        Kind::Text { value, style: Style::Plain | Style::Other } => {
            names_in_text(value) || may_be_token(value)
        }
        _ => false,
    })
}

/// Whether the name stands in a string.
fn names_in_text(value: &str) -> bool {
    occurs_anywhere(value.as_bytes(), TOKEN_VARIABLE) || spelling::may_be_token(value.as_bytes())
}

/// Variables' names are compared without regard to letter case, accents, and blanks behind them.
fn may_be_token(name: &str) -> bool {
    names::resemble(name.trim_end(), TOKEN_VARIABLE)
}

/// Whether it is a SELECT that sets nothing. To read the variable is harmless: it holds no token.
fn only_reads(segment: &Segment<'_>) -> bool {
    segment.is_word(0, "select")
        && !(0..segment.tokens.len()).any(|index| {
            segment.is_symbol(index, ":=")
                || matches!(segment.word(index), "into" | "procedure")
                || matches!(segment.tokens.get(index).map(|t| &t.kind), Some(Kind::Text { value, .. })
                    if names_in_text(value))
        })
}

/// Whether the statement says the same whoever the session is for: SET that computes nothing, SHOW, transaction control,
/// and SELECTs without a table, as of `ROW_COUNT()`.
pub(super) fn is_for_anybody(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "set" => set::is_plain(segment),
        "show" => !(1..segment.tokens.len()).any(|index| segment.is_word(index, "select")),
        "unlock" => true,
        "select" => (1..segment.tokens.len()).all(|index| {
            !matches!(
                segment.word(index),
                "from" | "into" | "select" | "table" | "values" | "with" | "procedure"
            ) && !segment.is_symbol(index, ":=")
        }),
        _ => mysql::is_transaction(segment),
    }
}

/// Whether the session may be another principal's after the statement: its user, its role, or what its variables say.
pub(super) fn changes(segment: &Segment<'_>) -> bool {
    match segment.word(0) {
        "set" => set::changes_names(segment) || names_variable(segment),
        _ => names_variable(segment) && !matches!(segment.word(0), "show" | "explain" | "describe" | "desc"),
    }
}

/// Whether a variable of ours stands anywhere in it.
fn names_variable(segment: &Segment<'_>) -> bool {
    segment.tokens.iter().any(|token| token.user_variable().is_some_and(is_ours))
}

fn misplaced(reason: &str) -> Refusal {
    Refusal::unsupported(
        reason,
        "say who the end user is with SET @fieldveil_token = '…', so that the token does not reach the server",
    )
}
