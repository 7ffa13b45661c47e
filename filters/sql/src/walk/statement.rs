//! Walks the statements that are understood: SELECT, INSERT, UPDATE, DELETE and MERGE.

use sqlparser::ast::Statement;

use crate::{refusal::Refusal, resolve::outputs::Outputs, walk::Walker};

impl<'c> Walker<'_, 'c> {
    /// Walks one statement, and returns the columns that it yields.
    pub fn statement(&mut self, tree: &Statement) -> Result<Outputs<'c>, Refusal> {
        match tree {
            Statement::Query(query) => self.query(query, None),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Merge(merge) => self.merge(merge),
            _ => Err(Refusal::unparsable("the statement's kind isn't understood")),
        }
    }
}
