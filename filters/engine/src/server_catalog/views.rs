//! Views: which of their columns are protected columns, as the query that the server keeps for each says.

use std::collections::{HashMap, HashSet};

use fieldveil_sql::{
    Analysis, Budget, Catalog, Column, Dialect, Field, Relation, RelationKind, StatementKind,
};

use fieldveil_sql::sorted::sorted;

/// How deep views may stand upon views.
const MAX_DEPTH: usize = 16;
/// Steps that reading all views may take: some 0.2 s on the thread that serves everybody. What is left then stays unread.
const MAX_STEPS: u64 = 1_000_000;

/// The relations, with the views that are understood told as such. A view whose query isn't understood, or holds a
/// value that would have to be sealed, stays one that no statement may name.
///
/// A view that stands upon views is understood when they are: it is read again when one that it names has become so.
pub fn resolve(mut catalog: Catalog, queries: &HashMap<u32, String>) -> Vec<Relation> {
    if let Dialect::MySql(session) = catalog.dialect() {
        catalog = catalog.in_dialect(Dialect::MySql(session.of_views()));
    }
    let views = catalog.relations().iter().enumerate();
    let mut pending: Vec<usize> = views
        .filter(|(_, relation)| relation.kind == RelationKind::OpaqueView)
        .map(|(index, _)| index)
        .collect();
    let naming = naming(&pending, &catalog, queries);
    let mut left = MAX_STEPS;
    for _ in 0..MAX_DEPTH {
        let understood = read(&pending, &catalog, queries, &mut left);
        let names = understood.iter().map(|(_, view)| view.name.to_lowercase());
        let again: HashSet<usize> = names.filter_map(|name| naming.get(&name)).flatten().copied().collect();
        let relations = catalog.relations_mut();
        for (index, view) in understood {
            if let Some(relation) = relations.get_mut(index) {
                *relation = view;
            }
        }
        let is_opaque = |index: &usize| {
            relations.get(*index).is_some_and(|relation| relation.kind == RelationKind::OpaqueView)
        };
        pending = sorted(again.into_iter().filter(is_opaque).collect());
        if pending.is_empty() {
            break;
        }
    }
    catalog.into_relations()
}

/// By word in lower case, the views whose queries hold it.
fn naming(views: &[usize], catalog: &Catalog, queries: &HashMap<u32, String>) -> HashMap<String, Vec<usize>> {
    let mut naming: HashMap<String, Vec<usize>> = HashMap::new();
    for index in views {
        let query = catalog.relations().get(*index).and_then(|view| queries.get(&view.oid));
        for word in query.map(|query| words_of_view(query)).unwrap_or_default() {
            naming.entry(word).or_default().push(*index);
        }
    }
    naming
}

/// What stands between quotes, and every word, in lower case.
pub(crate) fn words_of_view(query: &str) -> HashSet<String> {
    let query = query.to_lowercase();
    let quoted = query.split(['`', '"']);
    let bare = query.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
    quoted.chain(bare).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Those of the views that are understood, in so many steps.
fn read(
    views: &[usize],
    catalog: &Catalog,
    queries: &HashMap<u32, String>,
    left: &mut u64,
) -> Vec<(usize, Relation)> {
    let columns = catalog.relations().iter().flat_map(|relation| &relation.columns);
    let fields = columns.filter_map(|column| column.field.as_ref()).map(|field| (field.id, field)).collect();
    let mut found = Vec::new();
    for index in views {
        let view = catalog.relations().get(*index);
        let Some((view, query)) = view.and_then(|view| Some((view, queries.get(&view.oid)?))) else {
            continue;
        };
        let budget = Budget::new();
        let analysis = fieldveil_sql::analyze_within(query, catalog, &(), &budget);
        *left = left.saturating_sub(budget.spent());
        if *left == 0 {
            break;
        }
        let read = analysis.ok().and_then(|analysis| understood(view, &analysis, &fields));
        found.extend(read.map(|view| (*index, view)));
    }
    found
}

fn understood(view: &Relation, analysis: &Analysis, fields: &HashMap<usize, &Field>) -> Option<Relation> {
    let [statement] = analysis.statements.as_slice() else { return None };
    let reads = statement.kind == StatementKind::Select && statement.fields.copies.is_empty();
    if !(reads && statement.touched && analysis.splices.is_empty() && analysis.parameters.is_empty()) {
        return None;
    }
    let results = statement.columns.as_ref().filter(|results| results.len() == view.columns.len())?;
    let columns = view.columns.iter().zip(results).map(|(column, result)| Column {
        field: result.and_then(|result| fields.get(&result.field).copied().cloned()),
        ..column.clone()
    });
    Some(Relation {
        kind: RelationKind::View,
        columns: columns.collect(),
        searches: statement.fields.searches.clone(),
        compares: statement.fields.compares.clone(),
        ..view.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OID_OF_VIEWS: u32 = 100;

    fn column(number: i16, name: &str, field: Option<Field>) -> Column {
        Column {
            number,
            name: name.to_owned(),
            stored: fieldveil_sql::StorageType::Text,
            has_default: false,
            generated: false,
            field,
        }
    }

    fn relation(oid: u32, name: String, kind: RelationKind, field: Option<Field>) -> Relation {
        Relation {
            oid,
            schema: "public".to_owned(),
            name,
            visible: true,
            kind,
            columns: vec![column(1, "id", None), column(2, "ssn", field)].into(),
            searches: Vec::new(),
            compares: Vec::new(),
        }
    }

    /// What becomes of views with these queries over a table `customer` whose `ssn` is protected.
    fn kinds(queries: &[(&str, String)]) -> Vec<RelationKind> {
        let field = Field {
            id: 0,
            label: "customer.ssn".to_owned(),
            equality: true,
            indexed: false,
            envelopes: fieldveil_sql::Envelopes::One,
            declared: fieldveil_sql::Declared::Characters,
            type_name: "text".to_owned(),
        };
        let mut relations = vec![relation(1, "customer".to_owned(), RelationKind::Table, Some(field))];
        let oids = OID_OF_VIEWS..;
        let views = oids.clone().zip(queries);
        relations.extend(
            views.map(|(oid, (name, _))| relation(oid, (*name).to_owned(), RelationKind::OpaqueView, None)),
        );
        let texts = oids.zip(queries).map(|(oid, (_, query))| (oid, query.clone())).collect();
        let resolved =
            resolve(Catalog::new(Dialect::Postgres, relations, vec!["customer".to_owned()]), &texts);
        resolved.into_iter().skip(1).map(|relation| relation.kind).collect()
    }

    fn over(name: &str) -> String {
        format!("SELECT id, ssn FROM {name}")
    }

    #[test]
    fn views_upon_views_are_understood_whatever_their_order() {
        let names: Vec<String> = (0..10).map(|n| format!("v{n}")).collect();
        let mut queries = vec![(names[0].as_str(), over("customer"))];
        queries.extend(names.windows(2).map(|two| (two[1].as_str(), over(&two[0]))));
        assert_eq!(kinds(&queries), vec![RelationKind::View; 10]);
        queries.reverse();
        assert_eq!(kinds(&queries), vec![RelationKind::View; 10]);
    }

    #[test]
    fn views_are_read_in_no_more_steps_than_all_may_take() {
        let list = vec!["1"; 8_000].join(",");
        let long = format!("SELECT id, upper(ssn) FROM customer WHERE id IN ({list})");
        let mut queries = vec![("early", over("customer"))];
        queries.extend(std::iter::repeat_n(("long", long), 100));
        queries.push(("late", over("customer")));
        let kinds = kinds(&queries);
        assert_eq!(kinds.first(), Some(&RelationKind::View));
        // It is left, when those before it have taken all steps.
        assert_eq!(kinds.last(), Some(&RelationKind::OpaqueView));
    }
}
