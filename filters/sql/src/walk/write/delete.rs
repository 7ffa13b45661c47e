//! Walks DELETE, which in MySQL can name several tables.

use sqlparser::ast::{Delete, FromTable, ObjectName, TableFactor, TableWithJoins};

use crate::{
    refusal::Refusal,
    resolve::{outputs::Outputs, scope::Scope},
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Walks a DELETE, and returns the columns of its RETURNING.
    pub fn delete(&mut self, delete: &Delete) -> Result<Outputs<'c>, Refusal> {
        let Delete {
            delete_token: _,
            optimizer_hints: _,
            tables,
            from: FromTable::WithFromKeyword(from),
            using,
            selection,
            returning,
            output: None,
            order_by,
            limit,
        } = delete
        else {
            return Err(not_understood());
        };
        let mut scope = Scope::default();
        if self.is_mysql() {
            self.deleted(tables, from, using.as_deref(), &mut scope)?;
        } else {
            let ([table], [], [], None) = (from.as_slice(), tables.as_slice(), order_by.as_slice(), limit)
            else {
                return Err(not_understood());
            };
            scope.ranges.push(self.one_table((&table.relation, &table.joins))?);
            using.iter().try_for_each(|using| self.from(using, &mut scope))?;
        }
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        self.order_keys(order_by, &Outputs::default(), &scope)?;
        limit.iter().try_for_each(|limit| self.expr(limit, &scope))?;
        self.returning(returning.as_ref(), scope)
    }

    /// Walks MySQL's `DELETE FROM a`, `DELETE a, b FROM a JOIN b …` and `DELETE FROM a, b USING a JOIN b …`.
    fn deleted(
        &mut self,
        tables: &[ObjectName],
        from: &[TableWithJoins],
        using: Option<&[TableWithJoins]>,
        scope: &mut Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        self.from(using.unwrap_or(from), scope)?;
        let listed = if using.is_some() { from } else { &[] };
        for table in listed {
            self.deleted_from(named(table)?, scope)?;
        }
        tables.iter().try_for_each(|table| self.deleted_from(table, scope))?;
        if using.is_none() && tables.is_empty() {
            let [target] = scope.ranges.as_slice() else { return Err(not_understood()) };
            self.writable(target)?;
        }
        Ok(())
    }

    /// Walks a table of the list, which names one of FROM or USING.
    fn deleted_from(&mut self, name: &ObjectName, scope: &Scope<'_, 'c>) -> Result<(), Refusal> {
        let qualifier = self.names.read_parts(name)?;
        let range = scope.range(&qualifier)?;
        self.writable(range)
    }
}

/// Returns the name of a table that has nothing around it.
fn named(table: &TableWithJoins) -> Result<&ObjectName, Refusal> {
    let TableWithJoins {
        relation: TableFactor::Table { name, alias: None, args: None, partitions, index_hints, .. },
        joins,
    } = table
    else {
        return Err(not_understood());
    };
    if partitions.is_empty() && index_hints.is_empty() && joins.is_empty() {
        Ok(name)
    } else {
        Err(not_understood())
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the DELETE isn't understood")
}
