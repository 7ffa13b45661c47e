//! Names: folding, cutting, and which words the server reads as something else than a name.

use sqlparser::ast::Ident;

/// `NAMEDATALEN` less the NUL.
const MAX_NAME_BYTES: usize = 63;

/// An unquoted name as the server keeps it: ASCII letters in lower case, cut. (In multi-byte encodings the
/// server folds no other letters.)
pub(crate) fn fold_unquoted(name: &str) -> String {
    cut(&name.to_ascii_lowercase()).to_owned()
}

/// A name cut to the server's length, never within a character.
pub(crate) fn cut(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or(name)
}

/// A name of the syntax tree as the server keeps it; None when it was written as a string.
pub(crate) fn fold(ident: &Ident) -> Option<String> {
    let Ident { value, quote_style, span: _ } = ident;
    match quote_style {
        None => Some(fold_unquoted(value)),
        Some('"') => Some(cut(value).to_owned()),
        Some(_) => None,
    }
}

/// A name as an identifier that reads back as itself.
pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether the server, in any version supported, reads the unquoted word as a keyword where a table or a
/// column is expected.
pub(crate) fn is_reserved(ident: &Ident) -> bool {
    ident.quote_style.is_none() && RESERVED.contains(&ident.value.to_ascii_lowercase().as_str())
}

/// The same of a folded word.
pub(crate) fn is_keyword(word: &str) -> bool {
    RESERVED.contains(&word)
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
