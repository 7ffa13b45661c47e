//! Names: folding, cutting, and which words the server reads as something else than a name.

mod mysql;

use sqlparser::ast::Ident;

use crate::dialect::{Dialect, MySqlDialect};

/// The most bytes that PostgreSQL reads of a name: `NAMEDATALEN` less the NUL.
pub const MAX_NAME_BYTES: usize = 63;

/// An unquoted name as the server keeps it: ASCII letters in lower case, cut. (In multi-byte encodings the
/// server folds no other letters.)
pub(crate) fn fold_unquoted(name: &str) -> String {
    let mut folded = name.to_ascii_lowercase();
    folded.truncate(cut(&folded).len());
    folded
}

/// A name cut to the server's length, never within a character.
pub(crate) fn cut(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or(name)
}

/// A name of the syntax tree as the server keeps it, or, where it tells names apart without regard to letter case, in
/// lower case; None when it was written as a string.
pub(crate) fn fold(ident: &Ident, dialect: Dialect) -> Option<String> {
    let Ident { value, quote_style, span: _ } = ident;
    match (dialect, quote_style) {
        (Dialect::Postgres, None) => Some(fold_unquoted(value)),
        (Dialect::Postgres, Some('"')) => Some(cut(value).to_owned()),
        (Dialect::MySql(_), None | Some('`'))
        | (Dialect::MySql(MySqlDialect { ansi_quotes: true, .. }), Some('"')) => Some(lower(value)),
        (_, Some(_)) => None,
    }
}

/// A name in lower case, letter by letter, as MySQL and MariaDB compare names.
pub(crate) fn lower(name: &str) -> String {
    // One letter for each: of those that Unicode makes several (`İ`), the first.
    name.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect()
}

/// Whether [`lower`] leaves a name as it is.
pub(crate) fn is_lower(name: &str) -> bool {
    name.chars().all(|letter| letter.to_lowercase().next() == Some(letter))
}

/// Whether a name has letters besides ASCII's that aren't in lower case.
pub(crate) fn changes_letters(name: &str) -> bool {
    let changes = |letter: char| !letter.is_ascii() && letter.to_lowercase().next() != Some(letter);
    name.chars().any(changes)
}

/// Whether two names may be the same to one who tells no letters apart besides ASCII's.
pub(crate) fn resemble(one: &str, other: &str) -> bool {
    let same = |(a, b): (char, char)| a.eq_ignore_ascii_case(&b) || !a.is_ascii() || !b.is_ascii();
    one.chars().count() == other.chars().count() && one.chars().zip(other.chars()).all(same)
}

/// A name as an identifier that reads back as itself.
pub(crate) fn quote(name: &str, dialect: Dialect) -> String {
    match dialect {
        Dialect::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
        Dialect::MySql(_) => format!("`{}`", name.replace('`', "``")),
    }
}

/// Whether the server, in any version supported, reads the unquoted word as a keyword where a table or a
/// column is expected.
pub(crate) fn is_reserved(ident: &Ident, dialect: Dialect) -> bool {
    ident.quote_style.is_none() && is_keyword(&ident.value.to_ascii_lowercase(), dialect)
}

/// The same of a folded word.
pub(crate) fn is_keyword(word: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Postgres => RESERVED.contains(&word),
        Dialect::MySql(_) => mysql::is_reserved(word),
    }
}

/// The columns every table has.
pub(crate) fn is_system_column(name: &str) -> bool {
    matches!(name, "tableoid" | "xmin" | "cmin" | "xmax" | "cmax" | "ctid")
}

/// PostgreSQL, appendix C: reserved, and reserved except as a function or type.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];
