//! Statements of MySQL and MariaDB that ask the server about the statement before: how many rows it found or changed, and
//! which warnings and errors it left. Another statement between the two would be the one that the server tells about.

use crate::{
    budget::Budget,
    dialect::{Dialect, MySqlDialect},
    identity,
    lex::{Kind, Style},
    segment::{self, Segment, reader::Reader},
};

/// Functions without arguments that tell about the statement before.
const FUNCTIONS: &[&str] = &["row_count", "found_rows", "last_insert_id"];
/// System variables that do.
const VARIABLES: &[&str] = &["warning_count", "error_count", "last_insert_id", "identity"];
/// The scopes that they have.
const SCOPES: &[&str] = &["session", "local"];
/// What these values are computed with.
const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "=", "<", ">", "<=", ">=", "<>", "!=", "<=>"];
/// Words behind an item of a SELECT that are no alias.
const CLAUSES: &[&str] = &["from", "into", "limit"];

/// Whether each statement of a text asks about the statement before it, and does no more than that: it names no table, calls
/// no other function, and sets no variables but user variables that are not ours. The first one may be `USE`, which leaves
/// what `FOUND_ROWS()` tells.
#[must_use]
pub fn asks_about_last_statement(text: &str, dialect: MySqlDialect) -> bool {
    let budget = Budget::new();
    let Ok(segments) = segment::split(text, Dialect::MySql(dialect), &budget) else { return false };
    let asking = match segments.as_slice() {
        [first, behind @ ..] if is_use(first) => behind,
        all => all,
    };
    !asking.is_empty() && asking.iter().all(asks)
}

/// `USE database`
fn is_use(segment: &Segment<'_>) -> bool {
    let mut reader = Reader { segment, at: 0 };
    reader.takes_word("use") && reader.takes_name().is_some() && reader.is_end()
}

fn asks(segment: &Segment<'_>) -> bool {
    let mut statement = StatementReader { reader: Reader { segment, at: 1 }, asks: false };
    let is_known = match segment.word(0) {
        "select" => statement.takes_select(),
        "set" => statement.takes_list(StatementReader::takes_assignment),
        "get" => statement.takes_diagnostics(),
        "show" => statement.takes_show(),
        _ => false,
    };
    is_known && statement.asks && statement.reader.is_end() && !identity::changes(segment)
}

/// One statement, while it is read.
struct StatementReader<'a, 't> {
    reader: Reader<'a, 't>,
    /// Something in it tells about the statement before.
    asks: bool,
}

impl StatementReader<'_, '_> {
    /// `item [, item] … [INTO @variable …] [FROM DUAL] [LIMIT …] [INTO @variable …]`
    fn takes_select(&mut self) -> bool {
        self.takes_list(Self::takes_item)
            && self.takes_into()
            && (!self.reader.takes_word("from") || self.reader.takes_word("dual"))
            && self.takes_limit()
            && self.takes_into()
    }

    /// One of them at least, with commas between them.
    fn takes_list(&mut self, takes_one: fn(&mut Self) -> bool) -> bool {
        loop {
            if !takes_one(self) {
                return false;
            }
            if !self.reader.takes_symbol(",") {
                return true;
            }
        }
    }

    /// `[@variable :=] value [[AS] alias]`
    fn takes_item(&mut self) -> bool {
        (!self.takes_user_variable() || self.reader.takes_symbol(":="))
            && self.takes_value()
            && self.takes_alias()
    }

    /// `@variable {= | :=} value`
    fn takes_assignment(&mut self) -> bool {
        self.takes_user_variable()
            && (self.reader.takes_symbol("=") || self.reader.takes_symbol(":="))
            && self.takes_value()
    }

    /// Operands with operators between them.
    fn takes_value(&mut self) -> bool {
        loop {
            if !self.takes_operand() {
                return false;
            }
            if !OPERATORS.iter().any(|operator| self.reader.takes_symbol(operator)) {
                return true;
            }
        }
    }

    /// A number, a function or a system variable, perhaps with a sign.
    fn takes_operand(&mut self) -> bool {
        self.reader.takes_symbol("-");
        if self.takes_number() {
            return true;
        }
        let tells = self.takes_function() || self.takes_system_variable();
        self.asks |= tells;
        tells
    }

    fn takes_function(&mut self) -> bool {
        FUNCTIONS.iter().any(|name| self.reader.takes_word(name))
            && self.reader.takes_symbol("(")
            && self.reader.takes_symbol(")")
    }

    /// `@@name`, `@@session.name`, `@@local.name`
    fn takes_system_variable(&mut self) -> bool {
        self.takes(|kind| is_system_variable(kind, VARIABLES))
            || (self.takes(|kind| is_system_variable(kind, SCOPES))
                && self.reader.takes_symbol(".")
                && VARIABLES.iter().any(|name| self.reader.takes_word(name)))
    }

    fn takes_user_variable(&mut self) -> bool {
        self.takes(|kind| matches!(kind, Kind::Variable { system: false, .. }))
    }

    /// `[[AS] alias]`
    fn takes_alias(&mut self) -> bool {
        let must_follow = self.reader.takes_word("as");
        let follows = self.takes(|kind| match kind {
            Kind::Word { value, quoted } => *quoted || !CLAUSES.contains(&value.as_str()),
            Kind::Text { style, .. } => *style == Style::Plain,
            _ => false,
        });
        follows || !must_follow
    }

    /// `[INTO @variable [, @variable] …]`
    fn takes_into(&mut self) -> bool {
        !self.reader.takes_word("into") || self.takes_list(Self::takes_user_variable)
    }

    /// `[LIMIT number [{, | OFFSET} number]]`
    fn takes_limit(&mut self) -> bool {
        if !self.reader.takes_word("limit") {
            return true;
        }
        if !self.takes_number() {
            return false;
        }
        let has_offset = self.reader.takes_symbol(",") || self.reader.takes_word("offset");
        !has_offset || self.takes_number()
    }

    /// `SHOW {WARNINGS | ERRORS} [LIMIT …]`, `SHOW COUNT(*) {WARNINGS | ERRORS}`, from behind the first word on.
    fn takes_show(&mut self) -> bool {
        self.asks = true;
        let counts = self.reader.takes_word("count");
        if counts && !["(", "*", ")"].iter().all(|symbol| self.reader.takes_symbol(symbol)) {
            return false;
        }
        (self.reader.takes_word("warnings") || self.reader.takes_word("errors"))
            && (counts || self.takes_limit())
    }

    /// `GET [CURRENT] DIAGNOSTICS [CONDITION {number | @variable}] @variable = NAME [, @variable = NAME] …`, from behind the
    /// first word on.
    fn takes_diagnostics(&mut self) -> bool {
        self.asks = true;
        self.reader.takes_word("current");
        if !self.reader.takes_word("diagnostics") {
            return false;
        }
        let is_condition = |kind: &Kind| matches!(kind, Kind::Number | Kind::Variable { system: false, .. });
        (!self.reader.takes_word("condition") || self.takes(is_condition))
            && self.takes_list(Self::takes_diagnostic)
    }

    /// `@variable = NAME`
    fn takes_diagnostic(&mut self) -> bool {
        self.takes_user_variable() && self.reader.takes_symbol("=") && self.reader.takes_name().is_some()
    }

    fn takes_number(&mut self) -> bool {
        self.takes(|kind| matches!(kind, Kind::Number))
    }

    /// Takes the next token if it is such a one.
    fn takes(&mut self, is_such: impl FnOnce(&Kind) -> bool) -> bool {
        let found = self.reader.segment.tokens.get(self.reader.at).is_some_and(|token| is_such(&token.kind));
        if found {
            self.reader.advance();
        }
        found
    }
}

fn is_system_variable(kind: &Kind, names: &[&str]) -> bool {
    matches!(kind, Kind::Variable { name, system: true } if names.contains(&name.as_str()))
}
