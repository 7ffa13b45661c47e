//! MySQL's and MariaDB's statements that hold statements.

use crate::lex::{Kind, Token};

/// What CREATE and ALTER give a body.
const ROUTINES: &[&str] = &["procedure", "function", "trigger", "event", "package"];
/// What compound statements begin with.
const COMPOUND: &[&str] = &["if", "case", "loop", "while", "repeat", "for", "declare"];

/// Whether a statement that begins with these tokens may hold others, or be a part of a body.
pub(super) fn begins(tokens: &[Token], text: &str) -> bool {
    let first = word(tokens, 0);
    match first {
        "create" | "alter" => ROUTINES.contains(&word(tokens, object(tokens, text))),
        // MariaDB's `BEGIN NOT ATOMIC`. A transaction's BEGIN stands alone, or with WORK.
        "begin" => tokens.len() > 1 && !(tokens.len() == 2 && word(tokens, 1) == "work"),
        _ => COMPOUND.contains(&first) || is_symbol(tokens, 1, text, ":"),
    }
}

/// The place of the word that says what is made: `TABLE`, `VIEW`, `PROCEDURE`.
pub(super) fn object(tokens: &[Token], text: &str) -> usize {
    let mut at = 1_usize;
    loop {
        let next = at.saturating_add(1);
        match word(tokens, at) {
            "or" | "replace" | "temporary" | "unique" | "fulltext" | "spatial" | "aggregate" | "online"
            | "offline" | "ignore" | "undo" => at = next,
            "algorithm" if is_symbol(tokens, next, text, "=") => at = at.saturating_add(3),
            "sql" if word(tokens, next) == "security" => at = at.saturating_add(3),
            // `= user[@host]`, `= CURRENT_USER[()]`
            "definer" if is_symbol(tokens, next, text, "=") => {
                at = at.saturating_add(3);
                if matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Variable { .. })) {
                    at = at.saturating_add(1);
                } else if is_symbol(tokens, at, text, "(") {
                    at = at.saturating_add(2);
                }
            }
            _ => return at,
        }
    }
}

fn word(tokens: &[Token], index: usize) -> &str {
    match tokens.get(index).map(|token| &token.kind) {
        Some(Kind::Word { value, quoted: false }) => value,
        _ => "",
    }
}

fn is_symbol(tokens: &[Token], index: usize, text: &str, symbol: &str) -> bool {
    tokens.get(index).is_some_and(|token| token.is_symbol(text, symbol))
}
