//! Whose SQL a text is written in.

mod parser;

pub(crate) use parser::parsed;

/// The dialect of a text, with what the session's settings make of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL's, with `standard_conforming_strings` on.
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
}

impl Dialect {
    /// Whether it is MySQL's or MariaDB's.
    pub fn is_mysql(self) -> bool {
        matches!(self, Self::MySql(_))
    }
}
