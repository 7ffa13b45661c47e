//! The parser's dialects: its PostgreSQL, and its MySQL with what the session's settings make of it.

use std::any::TypeId;

use sqlparser::{
    ast::{Expr, Statement},
    dialect::{Dialect as Parsed, MySqlDialect as Base, PostgreSqlDialect},
    keywords::Keyword,
    parser::{Parser, ParserError},
};

use super::Dialect;

/// The parser's dialect for one of ours.
pub(crate) fn parsed(dialect: Dialect) -> &'static dyn Parsed {
    let Dialect::MySql(mysql) = dialect else { return &PostgreSqlDialect {} };
    match (mysql.ansi_quotes, mysql.no_backslash_escapes) {
        (false, false) => &MySql { ansi_quotes: false, no_backslash_escapes: false },
        (false, true) => &MySql { ansi_quotes: false, no_backslash_escapes: true },
        (true, false) => &MySql { ansi_quotes: true, no_backslash_escapes: false },
        (true, true) => &MySql { ansi_quotes: true, no_backslash_escapes: true },
    }
}

/// The parser's MySQL, whose quotes and escapes are those of the session. To the parser it is its own: all that it
/// asks for is passed on, but what differs.
#[derive(Debug)]
struct MySql {
    ansi_quotes: bool,
    no_backslash_escapes: bool,
}

/// What is answered as the parser's own MySQL answers it.
macro_rules! as_base {
    ($($name:ident),* $(,)?) => { $(fn $name(&self) -> bool { Base {}.$name() })* };
}

impl Parsed for MySql {
    fn dialect(&self) -> TypeId {
        Base {}.dialect()
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        letter == '`' || (letter == '"' && self.ansi_quotes)
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        !self.no_backslash_escapes
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        Base {}.is_identifier_start(letter)
    }

    // `a@b` is a name and a variable.
    fn is_identifier_part(&self, letter: char) -> bool {
        letter != '@' && Base {}.is_identifier_part(letter)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        Base {}.identifier_quote_style(identifier)
    }

    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        Base {}.parse_infix(parser, expr, precedence)
    }

    fn parse_statement(&self, parser: &mut Parser<'_>) -> Option<Result<Statement, ParserError>> {
        Base {}.parse_statement(parser)
    }

    fn is_table_factor_alias(&self, explicit: bool, keyword: &Keyword, parser: &mut Parser<'_>) -> bool {
        Base {}.is_table_factor_alias(explicit, keyword, parser)
    }

    as_base! {
        supports_string_literal_concatenation,
        ignores_wildcard_escapes,
        supports_numeric_prefix,
        supports_bitwise_shift_operators,
        supports_multiline_comment_hints,
        require_interval_qualifier,
        supports_limit_comma,
        supports_create_table_select,
        supports_insert_set,
        supports_user_host_grantee,
        supports_table_hints,
        requires_single_line_comment_whitespace,
        supports_match_against,
        supports_select_modifiers,
        supports_set_names,
        supports_comma_separated_set_assignments,
        supports_update_order_by,
        supports_data_type_signed_suffix,
        supports_cross_join_constraint,
        supports_double_ampersand_operator,
        supports_binary_kw_as_cast,
        supports_comment_optimizer_hint,
        supports_constraint_keyword_without_name,
        supports_key_column_option,
        supports_group_by_with_modifier,
        supports_left_associative_joins_without_parens,
    }
}
