//! Who asks: what Envoy verified, and the header fields that the configuration trusts. Nothing else of a request says it.

use std::collections::BTreeMap;

use fieldveil_plan::{PlanInput, SessionInput};

use super::head::{Head, Peer, is_alike};
use super::problem::Problem;
use crate::config::{Config, HttpConfig};

/// Bytes of one header field that says who asks: each principal's question to the policy is kept with its plan.
const MAX_IDENTITY_BYTES: usize = 4096;

/// The policy's input for a request of which nothing is known but where it comes from.
pub(super) fn of_anybody(config: &Config, http: &HttpConfig, source: String) -> PlanInput {
    PlanInput {
        protocol: "http".into(),
        listener: config.listener.clone(),
        workload: config.workload.clone(),
        session: SessionInput { database: http.service.clone(), source, ..SessionInput::default() },
        ..PlanInput::default()
    }
}

/// The policy's input for this request. A header field that says who asks is told once, or somebody may have added theirs
/// to it.
pub(super) fn read(
    config: &Config,
    http: &HttpConfig,
    head: &Head,
    peer: Peer,
) -> Result<PlanInput, Problem> {
    let identity = &http.identity;
    let optional = |name: &str| if name.is_empty() { Ok(String::new()) } else { once(head, name) };
    let user = optional(&identity.user_header)?;
    let purpose = optional(&identity.purpose_header)?;
    let mut headers = BTreeMap::new();
    for name in &identity.headers {
        let value = once(head, name)?;
        if head.first(name).is_some() {
            headers.insert(name.clone(), value);
        }
    }
    let mut claims = if identity.jwt_payload.is_empty() { serde_json::Map::new() } else { peer.claims };
    claims.retain(|name, _| !identity.claims_left_out.contains(name));
    let mut input = of_anybody(config, http, peer.source);
    input.session.user = user;
    input.session.purpose = purpose;
    Ok(PlanInput { claims, headers, ..input })
}

/// The one value of a header field, or nothing.
fn once(head: &Head, name: &str) -> Result<String, Problem> {
    let refuse = |reason: &str| Problem::ambiguous_identity(name, reason);
    // Who drops what clients send of the one may let the other pass, and the service may go by that.
    if head.names().any(|known| known != name && is_alike(known, name)) {
        return Err(refuse("another spelling of it comes, which services take for it"));
    }
    let mut values = head.all(name);
    let Some(value) = values.next() else { return Ok(String::new()) };
    if values.next().is_some() {
        return Err(refuse("it comes more than once"));
    }
    if value.len() > MAX_IDENTITY_BYTES {
        return Err(refuse(&format!("it is longer than {MAX_IDENTITY_BYTES} bytes")));
    }
    let text = std::str::from_utf8(value).map_err(|_| refuse("it is not UTF-8"))?;
    if text.contains(char::is_control) {
        return Err(refuse("it has control characters"));
    }
    Ok(text.to_owned())
}
