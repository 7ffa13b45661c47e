//! The claims of a client's token that Envoy's `jwt_authn` has verified, out of the metadata of its request.

use std::collections::HashMap;

use fieldveil_shell::claims;
use prost::Message;
use prost_types::value::Kind;
use prost_types::{Struct, Value as ProtoValue};
use serde_json::{Map, Value};

/// Who says which claims hold.
const JWT_AUTHN: &str = "envoy.filters.http.jwt_authn";

/// `envoy.config.core.v3.Metadata`, as far as it is asked for.
#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(map = "string, message", tag = "1")]
    filter_metadata: HashMap<String, Struct>,
}

/// The payload of the verified token under the name that `jwt_authn` was told. None if there is none, so that nothing
/// else can stand for it.
pub fn verified(metadata: &[u8], payload: &str) -> Option<Map<String, Value>> {
    let mut metadata = Metadata::decode(metadata).ok()?;
    let told = metadata.filter_metadata.remove(JWT_AUTHN)?.fields.remove(payload)?;
    match value(told) {
        Value::Object(claims) => Some(claims),
        _ => None,
    }
}

fn value(told: ProtoValue) -> Value {
    match told.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(bool)) => Value::Bool(bool),
        Some(Kind::NumberValue(number)) => claims::number(number),
        Some(Kind::StringValue(text)) => Value::String(text),
        Some(Kind::ListValue(list)) => Value::Array(list.values.into_iter().map(value).collect()),
        Some(Kind::StructValue(fields)) => {
            Value::Object(fields.fields.into_iter().map(|(name, member)| (name, value(member))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn proto(value: Value) -> ProtoValue {
        let kind = match value {
            Value::Null => Kind::NullValue(0),
            Value::Bool(bool) => Kind::BoolValue(bool),
            Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
            Value::String(text) => Kind::StringValue(text),
            Value::Array(values) => {
                Kind::ListValue(prost_types::ListValue { values: values.into_iter().map(proto).collect() })
            }
            Value::Object(members) => Kind::StructValue(fields(members)),
        };
        ProtoValue { kind: Some(kind) }
    }

    fn fields(members: Map<String, Value>) -> Struct {
        Struct { fields: members.into_iter().map(|(name, member)| (name, proto(member))).collect() }
    }

    fn metadata(of: &str, members: Value) -> Vec<u8> {
        let Value::Object(members) = members else { return Vec::new() };
        Metadata { filter_metadata: HashMap::from([(of.to_owned(), fields(members))]) }.encode_to_vec()
    }

    #[test]
    fn claims_come_back_as_they_were_signed() {
        let claims = json!({
            "sub": "ada", "groups": ["a", "b"], "exp": 1_795_356_724, "score": 1.5,
            "nested": {"admin": true, "none": null},
        });
        let bytes = metadata(JWT_AUTHN, json!({"claims": claims.clone(), "other": {"sub": "eve"}}));
        assert_eq!(verified(&bytes, "claims").map(Value::Object), Some(claims));
    }

    #[test]
    fn nobody_but_jwt_authn_is_believed() {
        let bytes = metadata("envoy.filters.http.header_to_metadata", json!({"claims": {"sub": "eve"}}));
        assert_eq!(verified(&bytes, "claims"), None);
    }

    #[test]
    fn a_payload_that_is_no_object_or_not_there_is_no_claims() {
        assert_eq!(verified(&metadata(JWT_AUTHN, json!({"claims": "ada"})), "claims"), None);
        assert_eq!(verified(&metadata(JWT_AUTHN, json!({"claims": {}})), "payload"), None);
        assert_eq!(verified(b"\xff\xff", "claims"), None);
        assert_eq!(verified(b"", "claims"), None);
    }
}
