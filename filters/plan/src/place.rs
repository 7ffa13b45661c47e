//! Where a protected value stands.

use std::fmt;

/// Where a field's values stand. Names and paths are as the plan says them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A column of a database; each name as the server's catalog has it.
    Column {
        /// The schema's name.
        schema: String,
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
    },
    /// A JSON path in the body of a request.
    Request(String),
    /// A JSON path in the body of a response.
    Response(String),
    /// A parameter of the query, by its name.
    Query(String),
    /// A header of the request, by its name in lower case.
    Header(String),
    /// A parameter of the route's own path, by its name.
    Segment(String),
}

/// The names of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Column<'a> {
    /// The schema's name, as the server's catalog has it.
    pub schema: &'a str,
    /// The table's name, as the server's catalog has it.
    pub table: &'a str,
    /// The column's name, as the server's catalog has it.
    pub column: &'a str,
}

impl Place {
    /// The names of a column; empty ones, which no column has, of anything else.
    pub fn column(&self) -> Column<'_> {
        match self {
            Self::Column { schema, table, column } => Column { schema, table, column },
            _ => Column { schema: "", table: "", column: "" },
        }
    }

    /// What stands there of an exchange of HTTP: `request`, `response`, `query`, `header` or `segment`. None for
    /// anything else.
    pub(crate) fn of_exchange(part: &str, at: &str) -> Option<Self> {
        let at = at.to_owned();
        Some(match part {
            "request" => Self::Request(at),
            "response" => Self::Response(at),
            "query" => Self::Query(at),
            "header" => Self::Header(at),
            "segment" => Self::Segment(at),
            _ => return None,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { schema, table, column } => write!(f, "{schema}.{table}.{column}"),
            Self::Request(path) => write!(f, "{path} of the request"),
            Self::Response(path) => write!(f, "{path} of the response"),
            Self::Query(name) => write!(f, "query parameter {name}"),
            Self::Header(name) => write!(f, "header {name}"),
            Self::Segment(name) => write!(f, "path parameter {name}"),
        }
    }
}

/// Returns true for a token (RFC 9110, section 5.6.2) without upper-case letters: names of headers reach the filter so.
pub fn is_header(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(token)
}
