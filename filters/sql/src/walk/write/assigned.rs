//! Walks what INSERT, UPDATE and MERGE put into a protected column.

use sqlparser::ast::{
    CaseWhen, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectNamePart,
};

use crate::{
    analysis::{ParameterUse, Replacement},
    refusal::Refusal,
    resolve::{outputs::OutputColumn, protected::Protected, scope::Scope},
    walk::{
        Walker,
        query::items::{is_written, refuse_mixed, refuse_untyped},
        value::cast,
    },
};

impl<'c> Walker<'_, 'c> {
    /// Walks what is stored in a protected column: a written value, a column that is sealed under the same label, or a
    /// choice among these.
    pub fn assigned(
        &mut self,
        target: Protected<'c>,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        match expr {
            Expr::Nested(inside) if !is_written(inside) => self.assigned(target, inside, scope),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match self.column(expr, scope)? {
                Some(source) => self.copy(target, source),
                None => self.value(target, ParameterUse::Store, expr),
            },
            Expr::Subquery(query) => {
                let outputs = self.query(query, Some(scope))?;
                match outputs.columns() {
                    [OutputColumn { protected: Some(source), .. }] if !outputs.open => {
                        self.copy(target, *source)
                    }
                    _ => self.value(target, ParameterUse::Store, expr),
                }
            }
            Expr::Function(function) => match coalesced(function) {
                _ if self.is_mysql() => self.chosen(target, expr, function, scope),
                Some(choices) => {
                    function
                        .name
                        .0
                        .iter()
                        .filter_map(|part| part.as_ident())
                        .try_for_each(|ident| self.names.read(ident).map(|_| ()))?;
                    refuse_untyped(target, choices.iter().copied())?;
                    self.choices(target, choices, scope)
                }
                None => self.value(target, ParameterUse::Store, expr),
            },
            Expr::Case { .. } => {
                let choices = self.case(expr, scope)?;
                if !self.is_mysql() {
                    refuse_untyped(target, choices.iter().copied())?;
                }
                self.choices(target, choices, scope)
            }
            // Django's `bulk_update` writes this cast. It is removed, because the sealed value has another type than the
            // declared one.
            Expr::Cast { kind: CastKind::DoubleColon, expr: inside, data_type, format: None }
                if cast::is_declared(data_type, target.field.declared, &target.field.type_name) =>
            {
                match self.text.cast_behind_case(inside, data_type) {
                    Some((case, cast)) => {
                        self.splices.replace(cast, Replacement::Text(String::new()));
                        let choices = self.case(case, scope)?;
                        self.choices(target, choices, scope)
                    }
                    None => self.value(target, ParameterUse::Store, expr),
                }
            }
            _ => self.value(target, ParameterUse::Store, expr),
        }
    }

    /// Returns the expressions that a CASE may yield.
    fn case<'e>(&mut self, case: &'e Expr, scope: &Scope<'_, 'c>) -> Result<Vec<&'e Expr>, Refusal> {
        let Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } = case else {
            return Err(Refusal::unparsable("a CASE isn't understood"));
        };
        self.conditions(operand.as_deref(), conditions, scope)?;
        let results = conditions.iter().map(|CaseWhen { condition: _, result }| result);
        Ok(results.chain(else_result.as_deref()).collect())
    }

    /// Walks expressions of which one is stored. The server gives all of them one type, which numbers decide.
    pub fn choices(
        &mut self,
        target: Protected<'c>,
        choices: Vec<&Expr>,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        refuse_mixed(target, &choices)?;
        self.untyped(|walker| {
            choices.into_iter().try_for_each(|choice| walker.assigned(target, choice, scope))
        })
    }

    /// Allows to copy a column to another one that is sealed under the same label.
    pub fn copy(&mut self, target: Protected<'c>, source: Protected<'c>) -> Result<(), Refusal> {
        if !target.is_interchangeable_with(source) {
            return Err(Refusal::on(
                target.field,
                "a value sealed under one label can't be copied to another",
                "read the value, and write it as a literal or a parameter",
            ));
        }
        self.fields.writes.insert(target.field.id);
        Ok(())
    }
}

/// Returns the arguments of `COALESCE(…)`. It yields the first that is not NULL, which is right because NULL is stored as
/// NULL.
fn coalesced(function: &Function) -> Option<Vec<&Expr>> {
    let (name, args) = plain_call(function)?;
    name.eq_ignore_ascii_case("coalesce").then_some(args)
}

/// Returns the name and the arguments of a call that has nothing else.
pub(crate) fn plain_call(function: &Function) -> Option<(&str, Vec<&Expr>)> {
    let Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses }),
        within_group,
        filter: None,
        null_treatment: None,
        over: None,
    } = function
    else {
        return None;
    };
    let [ObjectNamePart::Identifier(Ident { value, quote_style: None, span: _ })] = name.0.as_slice() else {
        return None;
    };
    if !(within_group.is_empty() && clauses.is_empty()) {
        return None;
    }
    let args = args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    Some((value, args.collect::<Option<Vec<_>>>()?))
}
