//! The claims of a client's token that Envoy's `jwt_authn` has verified.
//!
//! A module can't read them where that filter leaves them. So the filter `set_filter_state`, between the two, writes them as JSON
//! into the state of the request, behind a word that is there without a token too: a configuration that lacks this filter must not
//! look like a client without a token.

use fieldveil_engine::http::Reply;
use fieldveil_engine::ports::Level;
use fieldveil_shell::claims;
use fieldveil_shell::http::replies;
use serde_json::{Map, Value};

use crate::log::write_log;

/// The word before the claims.
const WORD: &[u8] = b"claims:";

const MISSING: &str = "no filter before this one passes on the claims of verified tokens";
const REMEDY: &str =
    "put set_filter_state between jwt_authn and the filter, as deploy/envoy/http.yaml.j2 does";
const UNREADABLE: &str = "the claims of a verified token can not be read";

/// The claims in what the request's state says; none where there is no token. The error answers the request.
pub fn verified(state: Option<&[u8]>) -> Result<Map<String, Value>, Reply> {
    let Some(text) = state.and_then(|state| state.strip_prefix(WORD)) else {
        return Err(refuse(MISSING));
    };
    if text.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(text) {
        Ok(Value::Object(claims)) => {
            Ok(claims.into_iter().map(|(name, claim)| (name, whole(claim))).collect())
        }
        // Nothing but an object is a payload, as in the WebAssembly filter.
        Ok(_) => Ok(Map::new()),
        Err(_) => Err(refuse(UNREADABLE)),
    }
}

fn refuse(reason: &str) -> Reply {
    write_log(Level::Error, &format!("{reason}; {REMEDY}"));
    replies::unavailable(reason, REMEDY)
}

/// A claim with its whole numbers as such.
fn whole(claim: Value) -> Value {
    match claim {
        Value::Number(number) => number.as_f64().map_or(Value::Null, claims::number),
        Value::Array(values) => Value::Array(values.into_iter().map(whole).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, member)| (name, whole(member))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(state: &str) -> Option<Value> {
        verified(Some(state.as_bytes())).ok().map(Value::Object)
    }

    #[test]
    fn claims_are_read_with_whole_numbers_as_such() {
        let state = r#"claims:{"sub":"ada","groups":["a","b"],"exp":1795356724,"big":1e3,"score":1.5,"nested":{"admin":true,"none":null}}"#;
        let expected = json!({"sub": "ada", "groups": ["a", "b"], "exp": 1_795_356_724, "big": 1000, "score": 1.5,
            "nested": {"admin": true, "none": null}});
        assert_eq!(claims(state), Some(expected));
    }

    #[test]
    fn without_a_token_there_are_no_claims_and_without_the_filter_no_answer() {
        assert_eq!(claims("claims:"), Some(json!({})));
        assert_eq!(claims("claims:[1]"), Some(json!({})));
        for state in [None, Some(&b""[..]), Some(b"{}"), Some(b"claims:{")] {
            let reply = verified(state).err().unwrap();
            assert_eq!(reply.status, 503);
            serde_json::from_slice::<Value>(&reply.body).unwrap();
        }
    }
}
