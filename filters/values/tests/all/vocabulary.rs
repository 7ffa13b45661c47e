//! The masks and types that `policies/schemas` describes, against those that are known here.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use fieldveil_values::{DeclaredType, Mask, ValueError, oid};
use proptest::prelude::*;
use serde_json::Value;

fn masks() -> Value {
    serde_json::from_str(include_str!("../../../../policies/schemas/masks/data.json")).unwrap()
}

fn types() -> Value {
    serde_json::from_str(include_str!("../../../../policies/schemas/types/data.json")).unwrap()
}

fn type_names() -> BTreeSet<String> {
    types()["types"].as_object().unwrap().keys().cloned().collect()
}

/// One format of each mask.
pub(crate) fn formats() -> Vec<String> {
    let masks = masks();
    let masks = masks["masks"].as_object().unwrap().values();
    masks.map(|mask| mask["example"]["format"].as_str().unwrap().to_owned()).collect()
}

/// These types, and those described that are none of these by another name.
pub(crate) fn with_described(types: &[&str]) -> Vec<String> {
    let oid = |name: &str| name.parse::<DeclaredType>().unwrap().oid();
    let tested: BTreeSet<u32> = types.iter().map(|name| oid(name)).collect();
    let described = type_names().into_iter().map(|name| declarable(&name));
    let missing = described.filter(|name| !tested.contains(&oid(name)));
    types.iter().map(|name| (*name).to_owned()).chain(missing).collect()
}

/// The type as a policy may declare it: some need a length.
fn declarable(name: &str) -> String {
    match name {
        "tinyint" | "varbinary" => format!("{name}(1)"),
        _ => name.to_owned(),
    }
}

proptest! {
    #[test]
    fn format_that_policies_permit_is_known(format in permitted(&masks())) {
        prop_assert!(format.parse::<Mask>().is_ok(), "{format}");
    }

    #[test]
    fn type_that_policies_permit_is_described(name in permitted(&types())) {
        let base = name.split(['(', '[']).next().unwrap();
        prop_assert!(type_names().contains(base), "{name}");
    }
}

/// What a schema's pattern matches.
fn permitted(schema: &Value) -> impl Strategy<Value = String> + use<> {
    let pattern = schema["pattern"].as_str().unwrap();
    prop::string::string_regex(pattern.strip_prefix('^').unwrap().strip_suffix('$').unwrap()).unwrap()
}

#[test]
fn described_types_are_those_of_the_code() {
    let described: BTreeSet<u32> = type_names()
        .iter()
        .map(|name| {
            let scalar: DeclaredType =
                declarable(name).parse().unwrap_or_else(|error| panic!("{name}: {error}"));
            let array: DeclaredType = format!("{}[]", declarable(name)).parse().unwrap();
            assert_eq!(oid::array_of(scalar.oid()), Some(array.oid()), "{name}");
            scalar.oid()
        })
        .collect();
    // Parameters may be of these, columns may not.
    let of_parameters = [oid::NAME, oid::FLOAT4];
    let known = (0..10_000).filter(|oid| oid::array_of(*oid).is_some());
    for element in known.filter(|element| !of_parameters.contains(element)) {
        assert!(described.contains(&element), "no type that is described has the OID {element}");
    }
}

#[test]
fn error_names_the_types_that_are_described() {
    let told = ValueError::UnknownType.to_string();
    let (_, known) = told.split_once("known are ").unwrap();
    let (known, _) = known.split_once(", and arrays").unwrap();
    let known: BTreeSet<u32> = known
        .split(", ")
        .map(|name| name.split('(').next().unwrap().parse::<DeclaredType>().unwrap().oid())
        .collect();
    for name in type_names() {
        assert!(known.contains(&declarable(&name).parse::<DeclaredType>().unwrap().oid()), "{name}");
    }
}

#[test]
fn guide_to_catalogs_names_every_type() {
    let guide = include_str!("../../../../docs/reference/policy-catalog.md");
    let row = guide.lines().find(|line| line.starts_with("| `type` |")).unwrap();
    let words: BTreeSet<&str> = row.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    for name in type_names() {
        assert!(words.contains(&*name), "{name}");
    }
}

#[test]
fn types_without_values_in_mysql_are_described_as_such() {
    for (name, described) in types()["types"].as_object().unwrap() {
        let declared: DeclaredType = declarable(name).parse().unwrap();
        let has_values = fieldveil_values::mysql::check(&declared).is_ok();
        assert_eq!(described.get("instead_in_mysql").is_none(), has_values, "{name}");
    }
}
