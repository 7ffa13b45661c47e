//! Lists the operands of the expressions that only MySQL has.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, MemberOf, ObjectName,
};

use crate::{
    refusal::Refusal,
    resolve::{protected::Protected, scope::Scope},
    walk::{Walker, expression::in_expression},
};

/// Returns the operands of an operator. Returns None for an expression that PostgreSQL has too, or that isn't understood.
pub(crate) fn operands(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::RLike { negated: _, expr, pattern, regexp: _ } => Some(vec![expr.as_ref(), pattern]),
        Expr::MemberOf(MemberOf { value, array }) => Some(vec![value.as_ref(), array]),
        Expr::Prefixed { prefix: _, value } => Some(vec![value.as_ref()]),
        Expr::Convert {
            is_try: false,
            expr,
            data_type: _,
            charset: _,
            target_before_value: false,
            styles,
        } => Some(std::iter::once(expr.as_ref()).chain(styles).collect()),
        _ => None,
    }
}

impl<'c> Walker<'_, 'c> {
    /// Refuses a protected column in `MATCH (…)`.
    pub fn matched(&mut self, name: &ObjectName, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let mut idents: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
        let column = match idents.pop() {
            Some(ident) if idents.is_empty() => Expr::Identifier(ident),
            last => Expr::CompoundIdentifier(idents.into_iter().chain(last).collect()),
        };
        match self.column(&column, scope)? {
            Some(column) => Err(in_expression(column)),
            None => Ok(()),
        }
    }

    /// Returns the protected column whose new value `VALUES(column)` is, in ON DUPLICATE KEY UPDATE.
    pub fn inserted_value(&mut self, function: &Function) -> Result<Option<Protected<'c>>, Refusal> {
        let Some(relation) = self.inserted else { return Ok(None) };
        let Function { name, args: FunctionArguments::List(list), over: None, filter: None, .. } = function
        else {
            return Ok(None);
        };
        let is_values = name.0.as_slice().first().and_then(|part| part.as_ident()).is_some_and(|ident| {
            let word = ident.value.to_ascii_lowercase();
            ident.quote_style.is_none() && matches!(word.as_str(), "values" | "value")
        });
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(of))] = list.args.as_slice() else { return Ok(None) };
        if !is_values || name.0.len() != 1 || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
            return Ok(None);
        }
        let name = match of {
            Expr::Identifier(ident) => self.names.read(ident)?,
            Expr::CompoundIdentifier(parts) => {
                let parts = parts.iter().map(|part| self.names.read(part)).collect::<Result<Vec<_>, _>>()?;
                parts.last().cloned().unwrap_or_default()
            }
            _ => return Ok(None),
        };
        Ok(relation.columns.named(&name).and_then(Protected::of).map(Protected::lost))
    }
}
