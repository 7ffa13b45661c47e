//! What a text says of the end user behind the session.

use fieldveil_sql::Dialect;
use fieldveil_sql::identity::{Identity, identify};

pub fn understood(text: &str, dialect: Dialect) -> Identity {
    identify(text, dialect).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
}

/// The text with every token of a literal in angle brackets.
pub fn marked(text: &str, dialect: Dialect) -> String {
    let mut marked = text.to_owned();
    for token in understood(text, dialect).tokens.iter().rev() {
        marked.replace_range(token.range.clone(), &format!("<{}>", token.value.as_str()));
    }
    marked
}
