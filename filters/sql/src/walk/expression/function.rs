//! Walks calls of functions. A protected column may be an argument only where it is counted.

use sqlparser::ast::{
    DuplicateTreatment, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, ObjectName, OrderByExpr, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};

use crate::{refusal::Refusal, resolve::scope::Scope, walk::Walker};

impl<'c> Walker<'_, 'c> {
    /// Walks a call in an expression.
    pub fn function(&mut self, function: &Function, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            within_group,
            filter,
            null_treatment: _,
            over,
        } = function;
        if *uses_odbc_syntax || *parameters != FunctionArguments::None {
            return Err(Refusal::unparsable("a function's call isn't understood"));
        }
        let parts = self.names.read_parts(name)?;
        // Each table's name is also the name of a type, and `type(value)` may be a cast.
        if parts.iter().any(|part| self.catalog.named(part).any(|relation| &relation.name == part)) {
            return Err(Refusal::unparsable("a function has the name of a protected table"));
        }
        let counts = over.is_none() && within_group.is_empty() && is_count(&parts);
        match args {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => self.unprotected_query(query, Some(scope))?,
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args, clauses }) => {
                if !(counts && self.is_counted(*duplicate_treatment, args, scope)?) {
                    self.arguments(args, scope)?;
                }
                for clause in clauses {
                    if self.is_mysql() && matches!(clause, FunctionArgumentClause::Separator(_)) {
                        continue;
                    }
                    let FunctionArgumentClause::OrderBy(order) = clause else {
                        return Err(Refusal::unparsable("a function's call isn't understood"));
                    };
                    self.unordered(order, scope)?;
                }
            }
        }
        self.unordered(within_group, scope)?;
        filter.iter().try_for_each(|filter| self.expr(filter, scope))?;
        match over {
            None => Ok(()),
            Some(WindowType::NamedWindow(name)) => self.names.read(name).map(|_| ()),
            Some(WindowType::WindowSpec(window)) => self.window(window, scope),
        }
    }

    /// Walks a window: `[name] [PARTITION BY …] [ORDER BY …] [frame]`.
    pub fn window(&mut self, window: &WindowSpec, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = window;
        window_name.iter().try_for_each(|name| self.names.read(name).map(|_| ()))?;
        partition_by.iter().try_for_each(|key| self.opaque(key, scope))?;
        self.unordered(order_by, scope)?;
        let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame else { return Ok(()) };
        for bound in std::iter::once(start_bound).chain(end_bound) {
            if let WindowFrameBound::Preceding(Some(rows)) | WindowFrameBound::Following(Some(rows)) = bound {
                self.opaque(rows, scope)?;
            }
        }
        Ok(())
    }

    /// Walks an ORDER BY whose keys can be neither output names nor positions.
    fn unordered(&mut self, keys: &[OrderByExpr], scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        for OrderByExpr { expr, options: _, with_fill } in keys {
            if with_fill.is_some() {
                return Err(Refusal::unparsable("a function's call isn't understood"));
            }
            self.opaque(expr, scope)?;
        }
        Ok(())
    }

    /// Walks the arguments of a call, also of a call in FROM.
    pub fn arguments(&mut self, args: &[FunctionArg], scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        for arg in args {
            let arg = match arg {
                FunctionArg::Unnamed(arg) => arg,
                FunctionArg::Named { name, arg, operator: _ } => {
                    self.names.read(name)?;
                    arg
                }
                FunctionArg::ExprNamed { name, arg, operator: _ } => {
                    self.opaque(name, scope)?;
                    arg
                }
            };
            match arg {
                FunctionArgExpr::Expr(expr) => self.expr(expr, scope)?,
                FunctionArgExpr::QualifiedWildcard(name) => self.row(name, scope)?,
                // Every row is counted, and nothing of it is read.
                FunctionArgExpr::Wildcard => {}
                FunctionArgExpr::WildcardWithOptions(_) => {
                    return Err(Refusal::unparsable("a function's call isn't understood"));
                }
            }
        }
        Ok(())
    }

    /// Refuses `f(c.*)` if `c` has protected columns.
    fn row(&mut self, name: &ObjectName, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let qualifier = self.names.read_parts(name)?;
        if scope.range(&qualifier)?.bears() {
            return Err(Refusal::unsupported(
                "a whole row that holds sealed values is an argument of a function",
                "name the columns one by one",
            ));
        }
        Ok(())
    }

    /// Returns true for `count(column)` of a protected column. The count is right, because every value that is not NULL is
    /// sealed.
    fn is_counted(
        &mut self,
        duplicates: Option<DuplicateTreatment>,
        args: &[FunctionArg],
        scope: &Scope<'_, 'c>,
    ) -> Result<bool, Refusal> {
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] = args else { return Ok(false) };
        let Some(column) = self.column(expr, scope)? else { return Ok(false) };
        if duplicates == Some(DuplicateTreatment::Distinct) {
            self.compared(column)?;
        }
        self.fields.searches.insert(column.field.id);
        Ok(true)
    }
}

fn is_count(name: &[String]) -> bool {
    match name {
        [name] => name == "count",
        [schema, name] => schema == "pg_catalog" && name == "count",
        _ => false,
    }
}
