//! The masks that `policies/schemas/masks/data.json` describes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use fieldveil_values::Mask;
use proptest::prelude::*;
use serde_json::Value;

fn described() -> Value {
    serde_json::from_str(include_str!("../../../../policies/schemas/masks/data.json")).unwrap()
}

/// One format of each mask.
pub(crate) fn formats() -> Vec<String> {
    let described = described();
    let masks = described["masks"].as_object().unwrap().values();
    masks.map(|mask| mask["example"]["format"].as_str().unwrap().to_owned()).collect()
}

proptest! {
    #[test]
    fn format_that_policies_permit_is_known(format in permitted()) {
        prop_assert!(format.parse::<Mask>().is_ok(), "{format}");
    }
}

/// What the schema's pattern matches.
fn permitted() -> impl Strategy<Value = String> {
    let described = described();
    let pattern = described["pattern"].as_str().unwrap();
    prop::string::string_regex(pattern.strip_prefix('^').unwrap().strip_suffix('$').unwrap()).unwrap()
}
