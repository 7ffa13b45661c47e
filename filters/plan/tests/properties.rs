//! What holds for all documents.
#![allow(clippy::unwrap_used)]

use fieldveil_plan::Plan;
use proptest::prelude::*;
use serde_json::{Value, json};

fn identifier() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_.$\" é]{1,12}"
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let name = prop_oneof![
            Just("fields"),
            Just("read"),
            Just("treatment"),
            Just("relation"),
            Just("ttl_seconds"),
            Just("revision"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..6)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Plan::from_json(&bytes);
    }

    #[test]
    fn arbitrary_json_never_panics(result in json_value()) {
        let _ = Plan::from_json(json!({"result": result}).to_string().as_bytes());
    }

    #[test]
    fn quoted_names_come_back_as_they_are(
        schema in identifier(), table in identifier(), column in identifier(), with_label in any::<bool>(),
    ) {
        let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let mut field = json!({
            "relation": format!("{}.{}", quote(&schema), quote(&table)), "column": column, "keyset": "k",
            "protection": "randomized", "type": "text", "read": {"treatment": "conceal"}, "write": "refuse",
        });
        if with_label {
            field["label"] = json!("l");
        }
        let answer = json!({"result": {"revision": "r", "fields": [field]}}).to_string();
        let plan = Plan::from_json(answer.as_bytes()).unwrap();
        let field = plan.fields.first().unwrap();
        prop_assert_eq!((&field.schema, &field.table, &field.column), (&schema, &table, &column));
    }
}
