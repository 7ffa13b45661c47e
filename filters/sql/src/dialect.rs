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
    /// The mode of `sql_mode` that gives texts another meaning than this crate reads in them.
    pub other_meaning: Option<OtherMeaning>,
}

/// A mode of `sql_mode` under which a text means something else than this crate reads in it. Of several the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OtherMeaning {
    /// Statements have another grammar. It is not known here where each of them ends.
    Oracle,
    /// An empty string is NULL. Words and strings end where they do without it.
    EmptyStringIsNull,
    /// NOT binds more tightly. Nothing else is read otherwise.
    HighNotPrecedence,
}

impl OtherMeaning {
    /// Each, in the order in which they count.
    pub const ALL: [Self; 3] = [Self::Oracle, Self::EmptyStringIsNull, Self::HighNotPrecedence];

    /// As `sql_mode` has it.
    fn name(self) -> &'static str {
        match self {
            Self::Oracle => "ORACLE",
            Self::EmptyStringIsNull => "EMPTY_STRING_IS_NULL",
            Self::HighNotPrecedence => "HIGH_NOT_PRECEDENCE",
        }
    }

    /// Why a text that may name something protected is refused.
    pub(crate) fn refusal(self) -> Refusal {
        Refusal::unsupported(
            format!("the session's sql_mode has {}, which gives texts another meaning", self.name()),
            "set sql_mode without it",
        )
    }
}

impl MySqlDialect {
    /// What a session's `@@sql_mode`, `VERSION()` and `@@lower_case_table_names` say.
    #[must_use]
    pub fn of_session(sql_mode: &str, version: &str, lower_case_table_names: &str) -> Self {
        let has = |mode: &str| sql_mode.split(',').any(|own| own.trim().eq_ignore_ascii_case(mode));
        Self {
            ansi_quotes: has("ANSI_QUOTES"),
            no_backslash_escapes: has("NO_BACKSLASH_ESCAPES"),
            pipes_as_concat: has("PIPES_AS_CONCAT"),
            mariadb: version.to_ascii_lowercase().contains("mariadb"),
            folds_tables: lower_case_table_names.trim() != "0",
            decoded: false,
            other_meaning: OtherMeaning::ALL.into_iter().find(|mode| has(mode.name())),
        }
    }

    /// Whether this crate can tell which words and literals a text consists of.
    pub fn knows_tokens(self) -> bool {
        self.other_meaning != Some(OtherMeaning::Oracle)
    }

    /// In which the server writes the queries of views, for every session alike.
    #[must_use]
    pub fn of_views(self) -> Self {
        Self {
            ansi_quotes: false,
            no_backslash_escapes: false,
            pipes_as_concat: false,
            decoded: false,
            other_meaning: None,
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
