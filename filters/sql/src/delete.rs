//! DELETE.

use sqlparser::ast::{Delete, FromTable};

use crate::{
    refusal::Refusal,
    scope::{Outputs, Scope},
    walker::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// DELETE, and what it returns.
    pub fn delete(&mut self, delete: &Delete) -> Result<Outputs<'c>, Refusal> {
        if self.is_mysql() {
            return self.delete_mysql(delete);
        }
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
            limit: None,
        } = delete
        else {
            return Err(not_understood());
        };
        let [table] = from.as_slice() else { return Err(not_understood()) };
        if !(tables.is_empty() && order_by.is_empty()) {
            return Err(not_understood());
        }
        let target = self.one_table(table)?;
        let mut scope = Scope { ranges: vec![target], ..Scope::default() };
        using.iter().try_for_each(|using| self.from(using, &mut scope))?;
        selection.iter().try_for_each(|selection| self.expr(selection, &scope))?;
        self.returning(returning.as_ref(), scope)
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the DELETE isn't understood")
}
