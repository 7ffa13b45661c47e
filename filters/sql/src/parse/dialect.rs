//! The parser's dialects: its PostgreSQL and its MySQL, with what the session's settings make of the latter.
//!
//! Both are the parser's own to it: all that it asks for is passed on, but what differs. What it asks for also counts its
//! steps, and ends it when it goes too deep or on for too long: by an error where it takes one, and where it doesn't by
//! taking its tokens away.

use std::any::TypeId;

use sqlparser::{
    ast::{Expr, Statement},
    dialect::{Dialect as Parsed, MySqlDialect, PostgreSqlDialect, Precedence},
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::Token,
};

use crate::budget::{Budget, Exceeded};
use crate::dialect::Dialect;

/// Runs with the parser's dialect for one of ours, and the budget that it spends.
pub(crate) fn with_parsed<R>(
    dialect: Dialect,
    budget: Budget,
    run: impl FnOnce(&dyn Parsed, &Budget) -> R,
) -> R {
    match dialect {
        Dialect::Postgres => {
            let postgres = Postgres { budget };
            run(&postgres, &postgres.budget)
        }
        Dialect::MySql(settings) => {
            let mysql = MySql {
                ansi_quotes: settings.ansi_quotes,
                no_backslash_escapes: settings.no_backslash_escapes,
                budget,
            };
            run(&mysql, &mysql.budget)
        }
    }
}

impl From<Exceeded> for ParserError {
    // The one error that the parser doesn't take for a reason to try something else.
    fn from(Exceeded: Exceeded) -> Self {
        Self::RecursionLimitExceeded
    }
}

/// Counts a step where the parser takes an error.
fn step<T>(budget: &Budget) -> Option<Result<T, ParserError>> {
    budget.descend().err().map(|exceeded| Err(exceeded.into()))
}

/// Counts a step where the parser takes no error: one that may not go on finds nothing more to read.
fn step_or_end(budget: &Budget, parser: &mut Parser<'_>) {
    if budget.descend().is_err() {
        while parser.next_token().token != Token::EOF {}
    }
}

/// What is answered as the parser's own dialect answers it.
macro_rules! as_base {
    ($base:expr, $($name:ident),* $(,)?) => { $(fn $name(&self) -> bool { $base.$name() })* };
}

/// The parser's PostgreSQL.
#[derive(Debug)]
struct Postgres {
    budget: Budget,
}

impl Parsed for Postgres {
    fn dialect(&self) -> TypeId {
        PostgreSqlDialect {}.dialect()
    }

    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        step(&self.budget)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        step(&self.budget).or_else(|| PostgreSqlDialect {}.get_next_precedence(parser))
    }

    fn is_table_factor_alias(&self, explicit: bool, keyword: &Keyword, parser: &mut Parser<'_>) -> bool {
        step_or_end(&self.budget, parser);
        PostgreSqlDialect {}.is_table_factor_alias(explicit, keyword, parser)
    }

    fn is_table_alias(&self, keyword: &Keyword, parser: &mut Parser<'_>) -> bool {
        PostgreSqlDialect {}.is_table_alias(keyword, parser)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_identifier_part(letter)
    }

    fn is_custom_operator_part(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_custom_operator_part(letter)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        PostgreSqlDialect {}.identifier_quote_style(identifier)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        PostgreSqlDialect {}.is_reserved_for_identifier(keyword)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        PostgreSqlDialect {}.prec_value(precedence)
    }

    as_base! {
        PostgreSqlDialect {},
        supports_unicode_string_literal,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        supports_alter_user_as_alter_role,
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_create_index_with_clause,
        supports_explain_with_utility_options,
        supports_listen_notify,
        supports_exclude_constraint,
        supports_factorial_operator,
        supports_bitwise_shift_operators,
        supports_comment_on,
        supports_load_extension,
        supports_named_fn_args_with_colon_operator,
        supports_named_fn_args_with_expr_name,
        supports_empty_projections,
        supports_nested_comments,
        supports_string_escape_constant,
        supports_numeric_literal_underscores,
        supports_array_typedef_with_brackets,
        supports_geometric_types,
        supports_order_by_using_operator,
        supports_set_names,
        supports_alter_column_type_using,
        supports_left_associative_joins_without_parens,
        supports_notnull_operator,
        supports_interval_options,
        supports_insert_table_alias,
        supports_create_table_like_parenthesized,
        supports_select_wildcard_with_alias,
        supports_comma_separated_trim,
        supports_xml_expressions,
        supports_aliased_function_args,
        supports_comment_optimizer_hint,
    }
}

/// The parser's MySQL, whose quotes and escapes are those of the session.
#[derive(Debug)]
struct MySql {
    ansi_quotes: bool,
    no_backslash_escapes: bool,
    budget: Budget,
}

impl Parsed for MySql {
    fn dialect(&self) -> TypeId {
        MySqlDialect {}.dialect()
    }

    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        step(&self.budget)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        step(&self.budget).or_else(|| MySqlDialect {}.get_next_precedence(parser))
    }

    fn is_table_factor_alias(&self, explicit: bool, keyword: &Keyword, parser: &mut Parser<'_>) -> bool {
        step_or_end(&self.budget, parser);
        MySqlDialect {}.is_table_factor_alias(explicit, keyword, parser)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        letter == '`' || (letter == '"' && self.ansi_quotes)
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        !self.no_backslash_escapes
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        MySqlDialect {}.is_identifier_start(letter)
    }

    // `a@b` is a name and a variable.
    fn is_identifier_part(&self, letter: char) -> bool {
        letter != '@' && MySqlDialect {}.is_identifier_part(letter)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        MySqlDialect {}.identifier_quote_style(identifier)
    }

    fn parse_statement(&self, parser: &mut Parser<'_>) -> Option<Result<Statement, ParserError>> {
        MySqlDialect {}.parse_statement(parser)
    }

    as_base! {
        MySqlDialect {},
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
