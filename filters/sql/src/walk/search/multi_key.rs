//! Rewrites comparisons with a value that has several ciphertexts, one for each enabled key of its keyset. The column is
//! compared with an array of them, for which the server uses an index on the column as it does for `=`.

use sqlparser::ast::Expr;

use crate::{
    analysis::{Form, ParameterUse, Replacement},
    field::Envelopes,
    refusal::Refusal,
    resolve::protected::Protected,
    walk::{
        Walker,
        query::items::is_null,
        search::predicate::{Comparison, require_equality},
        value::reader::{Content, Written},
    },
};

impl<'c> Walker<'_, 'c> {
    /// Returns true if a value of the column has, or may have, several ciphertexts when the statement is executed.
    pub fn has_several_ciphertexts(&self, column: Protected<'_>) -> bool {
        match column.field.envelopes {
            Envelopes::One => false,
            Envelopes::OneNow => self.text.segment.outlives_keys,
            Envelopes::Several => true,
        }
    }

    /// Rewrites the comparison of a column with a value. `left` says that the column stands left of the operator.
    pub fn search_several(
        &mut self,
        column: Protected<'c>,
        (at, left): (&Expr, bool),
        comparison: Comparison,
        value: &Expr,
    ) -> Result<(), Refusal> {
        require_equality(column)?;
        if is_null(value) {
            return self.value(column, ParameterUse::Search, value);
        }
        let quantifier = match comparison {
            Comparison::Equal => "ANY (",
            Comparison::NotEqual => "ALL (",
            Comparison::Distinct => return self.distinct_from_several(column, at, value),
        };
        if left {
            let (first, last) = self.envelopes(column, ParameterUse::Search, value)?;
            self.splices.insert_before(first, quantifier);
            self.splices.insert_behind(last, ")".to_owned());
            return Ok(());
        }
        // An array can stand only on the right, so the two sides change places.
        let place = self.text.name_tokens(at).zip(self.text.bracketed(at));
        let (name, (first, last)) = place.ok_or_else(|| {
            Refusal::on(
                column.field,
                "the value is compared with a column that is cast",
                "write the column left of the operator, or without the cast",
            )
        })?;
        let name = self.text.source(name);
        let written = self.read_value(column, ParameterUse::Search, value, false)?;
        self.replaceable(column, written.outer)?;
        self.splices.replace(written.outer, Replacement::Text(name));
        self.splices.insert_before(first, quantifier);
        self.array_of(column, ParameterUse::Search, &written, (first, last))?;
        self.splices.insert_behind(last, ")".to_owned());
        Ok(())
    }

    /// Rewrites `column IS [NOT] DISTINCT FROM value`. The column is compared with the ciphertext that it holds, if that is
    /// one of the value's ciphertexts, and otherwise with any of them.
    fn distinct_from_several(
        &mut self,
        column: Protected<'c>,
        at: &Expr,
        value: &Expr,
    ) -> Result<(), Refusal> {
        let name = self.text.name_tokens(at).map(|tokens| self.text.source(tokens)).ok_or_else(|| {
            Refusal::on(
                column.field,
                "the place of the column in the text is in doubt",
                "write the column's name without a cast",
            )
        })?;
        let written = self.read_value(column, ParameterUse::Search, value, false)?;
        let (first, last) = written.outer;
        self.replaceable(column, written.outer)?;
        self.splices.insert_before(first, &format!("(CASE WHEN {name} = ANY ("));
        self.array_of(column, ParameterUse::Search, &written, (first, last))?;
        self.splices.insert_behind(last, format!(") THEN {name} ELSE ("));
        self.array_behind(column, &written, last);
        self.splices.insert_behind(last, ")[1] END)".to_owned());
        Ok(())
    }

    /// Rewrites `column [NOT] IN (value, …)` as `column = ANY (ARRAY[…])`, with the arrays of all values.
    pub fn in_list_several(
        &mut self,
        column: Protected<'c>,
        list: &[Expr],
        negated: bool,
    ) -> Result<(), Refusal> {
        require_equality(column)?;
        let mut whole: Option<(usize, usize)> = None;
        for value in list {
            let (first, last) = self.envelopes(column, ParameterUse::Search, value)?;
            whole = Some((whole.map_or(first, |(first, _)| first), last));
        }
        let tokens = whole.and_then(|(first, last)| {
            let open = first.checked_sub(1)?;
            let in_ = open.checked_sub(1)?;
            let not = in_.checked_sub(1).filter(|not| self.text.segment.is_word(*not, "not"));
            let close = last.checked_add(1)?;
            let agrees = self.text.segment.is_symbol(open, "(")
                && self.text.segment.is_word(in_, "in")
                && not.is_some() == negated
                && self.text.segment.is_symbol(close, ")");
            agrees.then_some((not.unwrap_or(in_), open, close))
        });
        let (begin, open, close) = tokens.ok_or_else(|| {
            Refusal::on(
                column.field,
                "the place of the list in the text is in doubt",
                "write column IN (value, …), without more brackets",
            )
        })?;
        let compares = if negated { "<> ALL (ARRAY[" } else { "= ANY (ARRAY[" };
        self.splices.replace((begin, open), Replacement::Text(compares.to_owned()));
        self.splices.replace((close, close), Replacement::Text("])".to_owned()));
        Ok(())
    }

    /// Rewrites each element of `ARRAY[…]` as an array.
    pub fn elements_several(&mut self, column: Protected<'c>, elements: &[Expr]) -> Result<(), Refusal> {
        require_equality(column)?;
        elements.iter().try_for_each(|value| self.envelopes(column, ParameterUse::Search, value).map(|_| ()))
    }

    /// Puts an array of the value's ciphertexts in its place, and returns the tokens that the array replaces.
    pub fn envelopes(
        &mut self,
        column: Protected<'c>,
        use_: ParameterUse,
        value: &Expr,
    ) -> Result<(usize, usize), Refusal> {
        let written = self.read_value(column, use_, value, false)?;
        self.replaceable(column, written.outer)?;
        self.array_of(column, use_, &written, written.outer)?;
        Ok(written.outer)
    }

    fn array_of(
        &mut self,
        column: Protected<'c>,
        use_: ParameterUse,
        Written { content, .. }: &Written,
        tokens: (usize, usize),
    ) -> Result<(), Refusal> {
        self.fields.searches.insert(column.field.id);
        match content {
            Content::Null => self.splices.replace(tokens, Replacement::Nulls { field: column.field.id }),
            Content::Literal { value, number: _ } => {
                self.splices.seal(column, use_, tokens, Form::Envelopes, value.clone());
            }
            Content::Parameter { token, number, operand } => {
                self.place_parameter(column, use_, Form::Envelopes, (*token, *number, *operand))?;
                self.splices.replace(tokens, Replacement::Text(format!("${number}{}", column.array_type())));
            }
        }
        Ok(())
    }

    /// Inserts the same array once more, behind a token.
    fn array_behind(&mut self, column: Protected<'c>, Written { content, .. }: &Written, index: usize) {
        let field = column.field.id;
        let with = match content {
            Content::Null => Replacement::Nulls { field },
            Content::Literal { value, number: _ } => Replacement::Seal {
                field,
                use_: ParameterUse::Search,
                form: Form::Envelopes,
                value: value.clone(),
            },
            Content::Parameter { number, .. } => {
                Replacement::Text(format!("${number}{}", column.array_type()))
            }
        };
        self.splices.put_behind(index, with);
    }
}

/// Returns the refusal of `= ALL` and `<> ANY` with an array. They speak of each element, and one value would be several
/// elements.
pub(crate) fn refuse_each(column: Protected<'_>) -> Refusal {
    Refusal::on(
        column.field,
        "several keys are enabled, so that a value is several elements of an array, and = ALL and <> ANY are about each",
        "compare with = ANY or <> ALL, or reseal the table and disable the old keys",
    )
}
