//! `SELECT set_config('fieldveil.token', $1, true)`: what drivers send that write no literals.

use super::{Identity, PURPOSE, TOKEN, TokenParameter, mentions_token, misplaced};
use crate::{
    lex::{Kind, Style, Token},
    refusal::Refusal,
    segment::Segment,
};

/// One call, by the places of its arguments among the tokens.
pub(super) struct Call {
    name: usize,
    value: usize,
    is_local: usize,
}

impl Call {
    /// Whether its name is that of one of our settings, in one literal.
    pub fn sets_own(&self, segment: &Segment<'_>) -> bool {
        let name = segment.tokens.get(self.name).map(|token| &token.kind);
        matches!(name, Some(Kind::Text { value, style }) if *style != Style::Other
            && [TOKEN, PURPOSE].iter().any(|own| value.eq_ignore_ascii_case(own)))
    }
}

/// The calls of a SELECT that does nothing but call set_config with plain arguments; None for any other.
pub(super) fn read(segment: &Segment<'_>) -> Option<Vec<Call>> {
    let mut reader = CallReader { segment, at: 1 };
    let mut calls = Vec::new();
    loop {
        if reader.word("pg_catalog") {
            reader.symbol(".").then_some(())?;
        }
        (reader.word("set_config") && reader.symbol("(")).then_some(())?;
        let name = reader.argument()?;
        reader.symbol(",").then_some(())?;
        let value = reader.argument()?;
        reader.symbol(",").then_some(())?;
        let is_local = reader.argument()?;
        reader.symbol(")").then_some(())?;
        calls.push(Call { name, value, is_local });
        if reader.word("as") {
            segment.tokens.get(reader.at).and_then(Token::name)?;
            reader.at = reader.at.saturating_add(1);
        }
        if reader.at == segment.tokens.len() {
            return Some(calls);
        }
        reader.symbol(",").then_some(())?;
    }
}

/// Takes what the calls say of the token.
pub(super) fn take(segment: &Segment<'_>, calls: &[Call], identity: &mut Identity) -> Result<(), Refusal> {
    for call in calls {
        let kind = |index: usize| segment.tokens.get(index).map(|token| &token.kind);
        let is_token =
            matches!(kind(call.name), Some(Kind::Text { value, .. }) if value.eq_ignore_ascii_case(TOKEN));
        if !is_token {
            // The name may hold it otherwise, or the value of another setting.
            if mentions_token(segment, call.name..call.value.saturating_add(1)) {
                return Err(misplaced(
                    "set_config names fieldveil.token in another way than as 'fieldveil.token'",
                ));
            }
            continue;
        }
        let local = segment.is_word(call.is_local, "true");
        match (segment.tokens.get(call.value), kind(call.value)) {
            (Some(token), Some(Kind::Text { value, style })) if *style != Style::Other => {
                identity.push(segment, token, value, local);
            }
            (_, Some(Kind::Parameter(Some(number)))) => {
                identity.parameters.push(TokenParameter { number: *number, local });
            }
            (_, Some(Kind::Word { value, quoted: false })) if value == "null" => {}
            _ => return Err(misplaced("set_config takes the token as one literal or one parameter")),
        }
    }
    Ok(())
}

struct CallReader<'s, 't> {
    segment: &'s Segment<'t>,
    at: usize,
}

impl CallReader<'_, '_> {
    fn word(&mut self, word: &str) -> bool {
        let is = self.segment.is_word(self.at, word);
        self.at = self.at.saturating_add(usize::from(is));
        is
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let is = self.segment.is_symbol(self.at, symbol);
        self.at = self.at.saturating_add(usize::from(is));
        is
    }

    /// A literal, a parameter, `true`, `false` or NULL, and perhaps a cast; gives the place of the first token.
    fn argument(&mut self) -> Option<usize> {
        let at = self.at;
        let plain = match &self.segment.tokens.get(at)?.kind {
            Kind::Text { .. } | Kind::Parameter(_) => true,
            Kind::Word { value, quoted: false } => matches!(value.as_str(), "true" | "false" | "null"),
            _ => false,
        };
        self.at = at.saturating_add(1);
        if plain && self.symbol("::") {
            let types = ["text", "varchar", "bool", "boolean"];
            types.iter().any(|name| self.word(name)).then_some(())?;
        }
        plain.then_some(at)
    }
}
