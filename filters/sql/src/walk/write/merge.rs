//! Walks MERGE.

use sqlparser::ast::{
    Merge, MergeAction, MergeClause, MergeClauseKind, MergeInsertExpr, MergeInsertKind, MergeUpdateExpr,
    MergeUpdateKind, OutputClause,
};

use crate::{
    catalog::{Column, Relation},
    refusal::Refusal,
    resolve::{
        outputs::Outputs,
        scope::{Range, Scope},
    },
    walk::{
        Walker,
        write::insert::{refuse_defaults, refuse_generated, refuse_twice},
    },
};

impl<'c> Walker<'_, 'c> {
    /// Walks a MERGE, and returns the columns of its RETURNING.
    pub fn merge(&mut self, merge: &Merge) -> Result<Outputs<'c>, Refusal> {
        let Merge { merge_token: _, optimizer_hints: _, into: true, table, source, on, clauses, output } =
            merge
        else {
            return Err(not_understood());
        };
        let target = self.one_table((table, &[]))?;
        let relation = target.source.relation();
        relation.map_or(Ok(()), refuse_generated)?;
        let mut scope = Scope { ranges: vec![target], ..Scope::default() };
        self.tables(std::iter::once((source, &[][..])), &mut scope)?;
        self.expr(on, &scope)?;
        // A row without a match in the target has only the source's columns, and the other way round.
        let (target, source) = scope.ranges.split_at_checked(1).ok_or_else(not_understood)?;
        let side = |ranges: &[Range<'c>]| Scope { ranges: ranges.to_vec(), ..Scope::default() };
        let (target, source) = (side(target), side(source));
        for MergeClause { when_token: _, clause_kind, predicate, action } in clauses {
            let scope = match clause_kind {
                MergeClauseKind::Matched => &scope,
                MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => &source,
                MergeClauseKind::NotMatchedBySource => &target,
            };
            predicate.iter().try_for_each(|predicate| self.expr(predicate, scope))?;
            match action {
                MergeAction::Insert(insert) => self.merge_insert(relation, insert, scope)?,
                MergeAction::Update(MergeUpdateExpr {
                    update_token: _,
                    kind: MergeUpdateKind::Set(assignments),
                    update_predicate: None,
                    delete_predicate: None,
                }) => {
                    assignments.iter().try_for_each(|a| self.assignment(relation, a, scope))?;
                }
                MergeAction::Update(_) => return Err(not_understood()),
                MergeAction::Delete { .. } | MergeAction::DoNothing { .. } => {}
            }
        }
        match output {
            None => Ok(Outputs::default()),
            Some(OutputClause::Returning { returning_token: _, select_items }) => {
                // In a `*` the source's columns come first.
                let mut ranges = scope.ranges;
                ranges.rotate_left(1);
                self.returning(Some(select_items), Scope { ranges, ..Scope::default() })
            }
            Some(OutputClause::Output { .. }) => Err(not_understood()),
        }
    }

    fn merge_insert(
        &mut self,
        relation: Option<&'c Relation>,
        insert: &MergeInsertExpr,
        scope: &Scope<'_, 'c>,
    ) -> Result<(), Refusal> {
        let MergeInsertExpr {
            insert_token: _,
            columns,
            kind_token: _,
            kind: MergeInsertKind::Values(values),
            insert_predicate: None,
        } = insert
        else {
            return Err(not_understood());
        };
        let [row] = values.rows.as_slice() else { return Err(not_understood()) };
        let Some(relation) = relation else {
            columns.iter().try_for_each(|column| self.names.read_parts(column).map(|_| ()))?;
            return row.content.iter().try_for_each(|value| self.expr(value, scope));
        };
        if columns.is_empty() {
            return Err(Refusal::unsupported(
                "MERGE inserts into a table with sealed columns without naming the columns",
                "name the columns: INSERT (…) VALUES (…)",
            ));
        }
        refuse_twice(relation, columns.len())?;
        let targets: Vec<&Column> =
            columns.iter().map(|column| self.target_column(relation, column)).collect::<Result<_, _>>()?;
        if targets.len() != row.content.len() {
            return Err(not_understood());
        }
        refuse_defaults(relation, &targets)?;
        for (column, value) in targets.iter().zip(&row.content) {
            self.store(column, value, scope)?;
        }
        Ok(())
    }
}

fn not_understood() -> Refusal {
    Refusal::unparsable("a part of the MERGE isn't understood")
}
