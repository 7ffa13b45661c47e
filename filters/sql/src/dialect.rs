//! Whose SQL a text is written in.

use crate::refusal::Refusal;

/// The dialect of a text, with what the session's settings make of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL's, with its strings as `standard_conforming_strings` has them.
    #[default]
    Postgres,
    /// MySQL's or MariaDB's.
    MySql(MySqlDialect),
}

/// What a MySQL or MariaDB server and its session make of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MySqlDialect {
    /// `ANSI_QUOTES`: what stands in double quotes is a name.
    pub ansi_quotes: bool,
    /// `NO_BACKSLASH_ESCAPES`: a backslash in a string is a backslash.
    pub no_backslash_escapes: bool,
    /// `PIPES_AS_CONCAT`: `||` is no OR.
    pub pipes_as_concat: bool,
    /// Whether the server is a MariaDB.
    pub mariadb: bool,
    /// Whether tables' and databases' names are told apart without regard to letter case
    /// (`lower_case_table_names` is not 0).
    pub folds_tables: bool,
    /// Whether the text was decoded from another character set than UTF-8: some of its characters beyond ASCII may be blanks or
    /// control characters to the server, and what stands behind the name of a set is bytes.
    pub decoded: bool,
}

/// Modes of `sql_mode` under which a text means something else than this crate reads in it.
const OTHER_MEANING: &[&str] = &["ORACLE", "HIGH_NOT_PRECEDENCE", "EMPTY_STRING_IS_NULL"];

impl MySqlDialect {
    /// What a session's `@@sql_mode`, `VERSION()` and `@@lower_case_table_names` say.
    ///
    /// # Errors
    /// A [`Refusal`] under a mode in which texts mean something else: none may be read then.
    pub fn of_session(sql_mode: &str, version: &str, lower_case_table_names: &str) -> Result<Self, Refusal> {
        let has = |mode: &str| sql_mode.split(',').any(|own| own.trim().eq_ignore_ascii_case(mode));
        if let Some(mode) = OTHER_MEANING.iter().find(|mode| has(mode)) {
            return Err(Refusal::unsupported(
                format!("the session's sql_mode has {mode}, which gives texts another meaning"),
                "set sql_mode without it",
            ));
        }
        Ok(Self {
            ansi_quotes: has("ANSI_QUOTES"),
            no_backslash_escapes: has("NO_BACKSLASH_ESCAPES"),
            pipes_as_concat: has("PIPES_AS_CONCAT"),
            mariadb: version.to_ascii_lowercase().contains("mariadb"),
            folds_tables: lower_case_table_names.trim() != "0",
            decoded: false,
        })
    }

    /// In which the server writes the queries of views, for every session alike.
    #[must_use]
    pub fn of_views(self) -> Self {
        Self {
            ansi_quotes: false,
            no_backslash_escapes: false,
            pipes_as_concat: false,
            decoded: false,
            ..self
        }
    }
}

impl Dialect {
    /// Whether it is MySQL's or MariaDB's.
    pub fn is_mysql(self) -> bool {
        matches!(self, Self::MySql(_))
    }
}
