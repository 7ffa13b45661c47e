//! Select lists and RETURNING lists.

use sqlparser::ast::{Expr, Ident, SelectItem, SelectItemQualifiedWildcardKind, WildcardAdditionalOptions};

use crate::{
    names,
    refusal::Refusal,
    scope::{Output, Outputs, Range, Scope, Source},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// The items of a select list, and what they yield.
    pub fn items(&mut self, items: &[SelectItem], scope: &Scope<'_, 'c>) -> Result<Outputs<'c>, Refusal> {
        let mut outputs = Outputs::default();
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let output = self.item(expr, scope, None)?;
                    outputs.columns.push(output);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let name = self.name(alias)?;
                    let output = self.item(expr, scope, Some(name))?;
                    outputs.columns.push(output);
                }
                SelectItem::Wildcard(options) => {
                    plain_wildcard(options)?;
                    for range in &scope.ranges {
                        append(&mut outputs, range.outputs());
                    }
                    // Merged columns come once, and first.
                    outputs.open |= !scope.merged.is_empty();
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    plain_wildcard(options)?;
                    let qualifier = self.parts(name)?;
                    append(&mut outputs, scope.range(&qualifier)?.outputs());
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(_), _)
                | SelectItem::ExprWithAliases { .. } => {
                    return Err(Refusal::unparsable("an item of the select list isn't understood"));
                }
            }
        }
        Ok(outputs)
    }

    fn item(
        &mut self,
        expr: &Expr,
        scope: &Scope<'_, 'c>,
        alias: Option<String>,
    ) -> Result<Output<'c>, Refusal> {
        let protected = self.column(expr, scope)?;
        if protected.is_none() {
            self.expr(expr, scope)?;
        }
        Ok(Output { name: alias.or_else(|| own_name(expr)), protected })
    }

    /// RETURNING, for a statement on the target, which PostgreSQL 18 also knows as `old` and `new`.
    pub fn returning(
        &mut self,
        items: Option<&Vec<SelectItem>>,
        mut scope: Scope<'_, 'c>,
    ) -> Result<Outputs<'c>, Refusal> {
        let Some(items) = items else { return Ok(Outputs::default()) };
        // A `*` doesn't stand for the columns of these two: they are names around the others.
        let mut around = Scope::within(None);
        if let Some(Range { source: Source::Relation(relation), .. }) = scope.ranges.first() {
            for name in ["old", "new"] {
                let source = Source::Relation(relation);
                let range = Range { name: Some(name.to_owned()), schema: None, source };
                self.note_row(&range);
                around.ranges.push(range);
            }
        }
        let scope = Scope { ranges: std::mem::take(&mut scope.ranges), merged: scope.merged, outer: None };
        let either = Scope { ranges: scope.ranges, merged: scope.merged, outer: Some(&around) };
        self.items(items, &either)
    }
}

fn append<'c>(outputs: &mut Outputs<'c>, more: Outputs<'c>) {
    outputs.columns.extend(more.columns);
    outputs.open |= more.open;
}

/// The name the server gives a column without an alias, where it is a column's reference.
fn own_name(expr: &Expr) -> Option<String> {
    let ident: Option<&Ident> = match expr {
        Expr::Nested(inside) => return own_name(inside),
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    ident.and_then(names::fold)
}

fn plain_wildcard(options: &WildcardAdditionalOptions) -> Result<(), Refusal> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude: None,
        opt_except: None,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return Err(Refusal::unparsable("a wildcard of the select list isn't understood"));
    };
    Ok(())
}
