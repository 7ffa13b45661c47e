//! Views: which of their columns are protected columns, as the query that the server keeps for each says.

use std::collections::HashMap;

use fieldveil_sql::{Analysis, Catalog, Column, Dialect, Field, Relation, RelationKind, StatementKind};

/// How deep views may stand upon views. Each round reads again all queries that are not understood yet.
const MAX_DEPTH: usize = 16;

/// The relations, with the views that are understood told as such. A view whose query isn't understood, or holds a
/// value that would have to be sealed, stays one that no statement may name.
pub fn resolve(mut catalog: Catalog, queries: &HashMap<u32, String>) -> Vec<Relation> {
    if let Dialect::MySql(session) = catalog.dialect() {
        catalog = catalog.in_dialect(Dialect::MySql(session.of_views()));
    }
    for _ in 0..MAX_DEPTH {
        let opaque = catalog.relations().iter().filter(|relation| relation.kind == RelationKind::OpaqueView);
        let understood: Vec<(u32, Relation)> = opaque
            .filter_map(|view| {
                let query = queries.get(&view.oid)?;
                let analysis = fieldveil_sql::analyze(query, &catalog).ok()?;
                Some((view.oid, understood(view, &analysis, &catalog)?))
            })
            .collect();
        if understood.is_empty() {
            break;
        }
        let relations = catalog.relations_mut();
        for (oid, view) in understood {
            if let Some(relation) = relations.iter_mut().find(|relation| relation.oid == oid) {
                *relation = view;
            }
        }
    }
    catalog.into_relations()
}

fn understood(view: &Relation, analysis: &Analysis, catalog: &Catalog) -> Option<Relation> {
    let [statement] = analysis.statements.as_slice() else { return None };
    let reads = statement.kind == StatementKind::Select && statement.copies.is_empty();
    if !(reads && statement.touched && analysis.splices.is_empty() && analysis.parameters.is_empty()) {
        return None;
    }
    let fields = statement.columns.as_ref().filter(|fields| fields.len() == view.columns.len())?;
    let columns = view.columns.iter().zip(fields).map(|(column, field)| Column {
        field: field.and_then(|result| field_of(result.field, catalog)),
        ..column.clone()
    });
    Some(Relation {
        kind: RelationKind::View,
        columns: columns.collect(),
        searches: statement.searches.clone(),
        compares: statement.compares.clone(),
        ..view.clone()
    })
}

fn field_of(id: usize, catalog: &Catalog) -> Option<Field> {
    let columns = catalog.relations().iter().flat_map(|relation| &relation.columns);
    columns.filter_map(|column| column.field.as_ref()).find(|field| field.id == id).cloned()
}
