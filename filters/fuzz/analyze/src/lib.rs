//! The catalog that the differential test and the fuzz target of the SQL analysis share.

use fieldveil_sql::{
    Catalog, Column, Declared, Dialect, Envelopes, Field, Relation, RelationKind, StorageType,
};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../e2e/sqldiff/schema.json");

/// The relations of `e2e/sqldiff/schema.json` that the analysis may know.
///
/// # Panics
/// When that file is not of its shape.
pub fn catalog() -> Catalog {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let relations = schema["relations"].as_array().expect("the schema has relations");
    let protected = relations.iter().filter(|relation| is(relation, "protected"));
    let relations = protected.enumerate().map(relation).collect();
    Catalog::new(Dialect::Postgres, relations, vec!["planned".to_owned()])
}

/// The same while the keysets of deterministic labels have several enabled keys.
///
/// # Panics
/// As [`catalog`].
pub fn catalog_under_several_keys() -> Catalog {
    let mut catalog = catalog();
    let columns = catalog.relations_mut().iter_mut().flat_map(|relation| &mut relation.columns);
    for field in columns.filter_map(|column| column.field.as_mut()).filter(|field| field.equality) {
        field.envelopes = Envelopes::Several;
    }
    catalog
}

fn relation((index, relation): (usize, &Value)) -> Relation {
    let columns = relation["columns"].as_array().expect("a relation has columns");
    Relation {
        oid: 16_384 + u32::try_from(index).expect("few relations"),
        schema: text(&relation["schema"]),
        name: text(&relation["name"]),
        visible: is(relation, "visible"),
        kind: match relation["view"].as_str() {
            Some("understood") => RelationKind::View,
            Some(_) => RelationKind::OpaqueView,
            None => RelationKind::Table,
        },
        searches: relation["searches"].as_array().into_iter().flatten().map(number).collect(),
        compares: Vec::new(),
        columns: columns.iter().enumerate().map(column).collect(),
    }
}

fn column((index, column): (usize, &Value)) -> Column {
    Column {
        number: i16::try_from(index).expect("few columns") + 1,
        name: text(&column["name"]),
        stored: match column["stored"].as_str() {
            Some("text") => StorageType::Text,
            Some("bytes") => StorageType::Bytes,
            _ => StorageType::Other,
        },
        has_default: is(column, "default"),
        generated: is(column, "generated"),
        field: column.get("field").map(|field| Field {
            id: number(&field["id"]),
            label: text(&field["label"]),
            equality: is(field, "equality"),
            indexed: is(field, "indexed"),
            envelopes: Envelopes::One,
            declared: declared(field["declared"].as_str()),
            type_name: field["declared"].as_str().unwrap_or("text").to_owned(),
        }),
    }
}

fn declared(name: Option<&str>) -> Declared {
    match name {
        None => Declared::Characters,
        Some("integer") => Declared::Integer,
        Some("date") => Declared::Date,
        Some(_) => Declared::Other,
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).expect("a small number")
}

fn is(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or(false)
}

fn text(value: &Value) -> String {
    value.as_str().expect("a name is text").to_owned()
}
