//! Rewrites comparisons of a protected column with a value in MySQL.
//!
//! # Blind indexes
//! Equal values have envelopes that begin alike. The server looks up `column LIKE 'begin%'` in an ordinary index on the
//! column or on its first characters. It can't do so for `LEFT(column, n) = 'begin'`: MariaDB has no indexes on
//! expressions, and MySQL has one only if it was made for this. LIKE is right under every collation, because it compares
//! character by character. A collation that ignores case takes two different indexes of 128 bits for equal with a
//! probability of about 2^-106. For a binary column LIKE compares bytes.

use sqlparser::ast::Expr;

use crate::{
    analysis::{Form, ParameterUse, Replacement},
    field::{Declared, Envelopes},
    refusal::Refusal,
    resolve::protected::Protected,
    walk::{
        Walker,
        query::items::{is_null, is_number},
        search::predicate::{Comparison, require_equality},
        value::reader::Content,
    },
};

/// The escape character of the patterns. It stands in no armored envelope, and means the same in every `sql_mode`, unlike a
/// backslash.
const ESCAPE: u8 = b'!';
const ESCAPES: &str = " ESCAPE '!'";
/// So many bytes that are written for each value of a list count as one step of the analysis.
const BYTES_A_STEP: usize = 16;

/// Returns the pattern for values that begin with these bytes, for `LIKE … ESCAPE '!'`.
pub fn like_pattern(begin: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(begin.len().saturating_mul(2));
    for byte in begin {
        if matches!(*byte, b'%' | b'_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(*byte);
    }
    pattern.push(b'%');
    pattern
}

impl<'c> Walker<'_, 'c> {
    /// Rewrites the comparison of a column with a value. `left` says that the column stands left of the operator.
    pub fn search_mysql(
        &mut self,
        column: Protected<'c>,
        (at, left): (&Expr, bool),
        comparison: Comparison,
        value: &Expr,
    ) -> Result<(), Refusal> {
        refuse_as_number(column, value)?;
        self.refuse_as_bytes(column, at, std::slice::from_ref(value))?;
        let several = column.field.envelopes == Envelopes::Several;
        if !column.field.indexed {
            require_equality(column)?;
        }
        if is_null(value) || !(column.field.indexed || several) {
            return self.value(column, ParameterUse::Search, value);
        }
        let null_safe = matches!(comparison, Comparison::Distinct);
        if column.field.indexed && null_safe {
            // The comparison uses no index, and the value may be NULL.
            self.index_part(column, at)?;
            return self.value(column, ParameterUse::Search, value);
        }
        let place = self.text.name_tokens(at).zip(self.text.bracketed(at));
        let (name, (first, last)) = place.ok_or_else(|| in_doubt(column))?;
        let written = self.read_value(column, ParameterUse::Search, value, false)?;
        self.replaceable(column, written.outer)?;
        let operator = if left { last.checked_add(1) } else { first.checked_sub(1) };
        let is_operator = |index: &usize| {
            ["=", "<>", "!=", "<=>"].iter().any(|symbol| self.text.segment.is_symbol(*index, symbol))
        };
        let operator = operator.filter(is_operator).ok_or_else(|| in_doubt(column))?;
        if null_safe && matches!(written.content, Content::Parameter { .. }) {
            return Err(Refusal::on(
                column.field,
                "several keys are enabled, so that a value is several ciphertexts, and <=> compares with one",
                "compare with =, and test for NULL separately; or reseal the table and disable the old keys",
            ));
        }
        let (word, open, close) = match (column.field.indexed, comparison) {
            (true, Comparison::NotEqual) => ("NOT LIKE", "", ESCAPES),
            (true, _) => ("LIKE", "", ESCAPES),
            (false, Comparison::NotEqual) => ("NOT IN", "(", ")"),
            (false, Comparison::Equal) => ("IN", "(", ")"),
            (false, Comparison::Distinct) => ("IN", "(", "), 0)"),
        };
        let (from, to) = if left { ((first, last), written.outer) } else { (written.outer, (first, last)) };
        if null_safe {
            self.splices.insert_before(from.0, "IFNULL(");
        }
        // The pattern can stand only on the right.
        if !left {
            let name = self.text.source(name);
            self.splices.replace(from, Replacement::Text(name));
        }
        self.splices.replace((operator, operator), Replacement::Text(format!(" {word} ")));
        if !open.is_empty() {
            self.splices.insert_before(to.0, open);
        }
        self.searched_at(column, written.content, to)?;
        self.splices.insert_behind(to.1, close.to_owned());
        Ok(())
    }

    /// Rewrites `column [NOT] IN (value, …)`.
    pub fn in_list_mysql(
        &mut self,
        column: Protected<'c>,
        at: &Expr,
        list: &[Expr],
        negated: bool,
    ) -> Result<(), Refusal> {
        list.iter().try_for_each(|value| refuse_as_number(column, value))?;
        self.refuse_as_bytes(column, at, list)?;
        if column.field.indexed {
            return self.in_list_of_patterns(column, at, list, negated);
        }
        require_equality(column)?;
        for value in list {
            if column.field.envelopes != Envelopes::Several || is_null(value) {
                self.value(column, ParameterUse::Search, value)?;
                continue;
            }
            let written = self.read_value(column, ParameterUse::Search, value, false)?;
            self.replaceable(column, written.outer)?;
            self.searched_at(column, written.content, written.outer)?;
        }
        Ok(())
    }

    /// Refuses `BINARY` beside a column that holds no characters, because the parser's tree doesn't tell of it. In MariaDB
    /// it also refuses a cast to CHAR beside a decimal. In both cases the server would compare the texts of the values, so
    /// that 1.1 would not equal 1.10.
    fn refuse_as_bytes(&self, column: Protected<'c>, at: &Expr, values: &[Expr]) -> Result<(), Refusal> {
        if matches!(column.field.declared, Declared::Characters | Declared::Padded | Declared::Bytea) {
            return Ok(());
        }
        let mut places = Vec::from_iter(self.text.bracketed(at));
        for value in values {
            places.push(self.read_value(column, ParameterUse::Search, value, false)?.outer);
        }
        let is_decimal = column.field.declared == Declared::Numeric;
        let is_binary = |index: usize| {
            self.text.segment.is_word(index, "binary")
                || (is_decimal && self.text.segment.is_word(index, "char"))
        };
        if places.iter().any(|(first, last)| (first.saturating_sub(1)..=*last).any(is_binary)) {
            return Err(Refusal::on(
                column.field,
                "a cast to BINARY or CHAR makes the server compare how the values are written",
                "write the value without it",
            ));
        }
        Ok(())
    }

    /// Writes the list as `(column LIKE … OR column LIKE …)`.
    fn in_list_of_patterns(
        &mut self,
        column: Protected<'c>,
        at: &Expr,
        list: &[Expr],
        negated: bool,
    ) -> Result<(), Refusal> {
        let (name, (first, mut end)) =
            self.text.name_tokens(at).zip(self.text.bracketed(at)).ok_or_else(|| in_doubt(column))?;
        let name = self.text.source(name);
        self.spend(name.len().saturating_mul(list.len()) / BYTES_A_STEP)?;
        let next = |index: usize| index.saturating_add(1);
        if negated {
            end = next(end);
            if !self.text.segment.is_word(end, "not") {
                return Err(in_doubt(column));
            }
            self.splices.replace((end, end), Replacement::Text(String::new()));
        }
        let (in_, open) = (next(end), next(next(end)));
        if !(self.text.segment.is_word(in_, "in") && self.text.segment.is_symbol(open, "(")) {
            return Err(in_doubt(column));
        }
        self.splices.insert_before(first, if negated { "NOT (" } else { "(" });
        self.splices.replace((in_, open), Replacement::Text("LIKE ".to_owned()));
        let mut last = open;
        for (index, value) in list.iter().enumerate() {
            let written = self.read_value(column, ParameterUse::Search, value, false)?;
            self.replaceable(column, written.outer)?;
            if written.outer.0 != next(last) {
                return Err(in_doubt(column));
            }
            last = next(written.outer.1);
            if is_null(value) {
                self.value(column, ParameterUse::Search, value)?;
            } else {
                self.searched_at(column, written.content, written.outer)?;
            }
            let has_more = next(index) < list.len();
            if !self.text.segment.is_symbol(last, if has_more { "," } else { ")" }) {
                return Err(in_doubt(column));
            }
            let text = if has_more { format!("{ESCAPES} OR {name} LIKE") } else { format!("{ESCAPES})") };
            self.splices.replace((last, last), Replacement::Text(text));
        }
        Ok(())
    }

    /// Puts the pattern for a value at its tokens.
    fn searched_at(
        &mut self,
        column: Protected<'c>,
        content: Content,
        tokens: (usize, usize),
    ) -> Result<(), Refusal> {
        self.fields.searches.insert(column.field.id);
        let form = if column.field.indexed { Form::Pattern } else { Form::Envelopes };
        match content {
            Content::Null => {}
            Content::Literal { value, number: _ } => {
                self.splices.seal(column, ParameterUse::Search, tokens, form, value);
            }
            Content::Parameter { token, number, operand } => {
                self.place_parameter(column, ParameterUse::Search, form, (token, number, operand))?;
                let with = match form {
                    Form::Envelopes => Replacement::Placeholders { field: column.field.id },
                    _ => Replacement::Text("?".to_owned()),
                };
                self.splices.replace(tokens, with);
            }
        }
        Ok(())
    }
}

/// Refuses a number beside characters: MySQL would compare both as numbers, so that `'007'` and `'7abc'` equal 7.
pub(crate) fn refuse_as_number(column: Protected<'_>, value: &Expr) -> Result<(), Refusal> {
    let as_numbers = match column.field.declared {
        Declared::Characters
        | Declared::Padded
        | Declared::Uuid
        | Declared::Json
        | Declared::Jsonb
        | Declared::Bytea
        | Declared::Other => true,
        Declared::Integer
        | Declared::Numeric
        | Declared::Float
        | Declared::Boolean
        | Declared::Date
        | Declared::Time
        | Declared::Timestamp
        | Declared::TimestampTz => false,
    };
    if as_numbers && is_number(value) {
        return Err(Refusal::on(
            column.field,
            "the column holds characters, which the server would compare with a number as numbers",
            "write the value as a string",
        ));
    }
    Ok(())
}

fn in_doubt(column: Protected<'_>) -> Refusal {
    Refusal::on(
        column.field,
        "the place of the column in the text is in doubt",
        "write column = value or column IN (value, …), without casts and more brackets",
    )
}

#[cfg(test)]
mod tests {
    use super::like_pattern;

    #[test]
    fn a_pattern_matches_what_begins_with_the_bytes_alone() {
        assert_eq!(like_pattern(b"fv1.a-B_c"), b"fv1.a-B!_c%");
        assert_eq!(like_pattern(b"\x00%!_\\\xff"), b"\x00!%!!!_\\\xff%");
    }
}
