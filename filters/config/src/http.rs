//! What the JSON filter is told beside: whose requests it sees, who may say who asks, and how much is too much.

use fieldveil_plan::is_header;
use serde::Deserialize;

use crate::range::within;

/// Bytes of a body that a worker may be made to hold before it is told.
const MAX_HELD_BYTES: usize = 16 << 20;
/// The standard library of most clients reads no deeper document.
const MAX_DEPTH: usize = 10_000;
/// Bytes of one key.
const MAX_KEY_BYTES: usize = 1 << 20;
/// Headers that the policy is told of: each of their values makes another principal.
const MAX_HEADERS: usize = 32;

/// Headers that say how a message is carried, or that hold secrets: they are no attributes of anybody.
const NO_IDENTITY: [&str; 12] = [
    "authorization",
    "connection",
    "cookie",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The section `http`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// Names the service in the policy's input, as the catalog does.
    pub service: String,
    /// Who may say who asks; nobody unless told.
    #[serde(default)]
    pub identity: Identity,
    /// How much is too much.
    #[serde(default)]
    pub limits: HttpLimits,
}

/// Who may say who asks. What is named here must come from somebody who is trusted: Envoy's `jwt_authn`, or a proxy in
/// front that removes the headers which clients send.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// `payload_in_metadata` of `jwt_authn`: the verified claims; empty for none.
    pub jwt_payload: String,
    /// The header that says `session.user`; empty for none.
    pub user_header: String,
    /// The header that says `session.purpose`; empty for none.
    pub purpose_header: String,
    /// Headers that the policy is told of by their names.
    pub headers: Vec<String>,
    /// Claims that the policy is not told of: those that are of a token and not of whose it is would make a new principal of
    /// each token.
    pub claims_left_out: Vec<String>,
}

impl Identity {
    /// The header fields that decide who asks, as a `Vary` says them.
    pub fn varies(&self) -> String {
        let token = if self.jwt_payload.is_empty() { "" } else { "authorization" };
        let named = [token, &self.user_header, &self.purpose_header].into_iter();
        let all = named.chain(self.headers.iter().map(String::as_str)).filter(|name| !name.is_empty());
        all.collect::<Vec<_>>().join(", ")
    }
}

impl Default for Identity {
    fn default() -> Self {
        let of_tokens = ["exp", "iat", "nbf", "jti", "auth_time", "nonce", "sid", "at_hash", "c_hash"];
        Self {
            jwt_payload: String::new(),
            user_header: String::new(),
            purpose_header: String::new(),
            headers: Vec::new(),
            claims_left_out: of_tokens.map(str::to_owned).to_vec(),
        }
    }
}

/// Limits of bodies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpLimits {
    /// Bytes of a body that are held so that it is refused whole: past these it streams.
    pub held_body_bytes: usize,
    /// Arrays and objects in one another.
    pub json_depth: usize,
    /// Bytes of one key of an object.
    pub json_key_bytes: usize,
    /// Bytes of a body that wait for plan and keys.
    pub waiting_body_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            held_body_bytes: 64 << 10,
            json_depth: 1000,
            json_key_bytes: 64 << 10,
            // Envoy has no back-pressure for a request that waits: on loopback some MiB come within a question.
            waiting_body_bytes: 16 << 20,
        }
    }
}

impl HttpConfig {
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.service.trim().is_empty() {
            return Err("http.service: it is empty; name the service as the catalog does".to_owned());
        }
        let Identity { user_header, purpose_header, headers, .. } = &self.identity;
        if headers.len() > MAX_HEADERS {
            return Err(format!(
                "http.identity.headers: {} are more than {MAX_HEADERS}; name fewer",
                headers.len()
            ));
        }
        for (place, name) in [("user_header", user_header), ("purpose_header", purpose_header)] {
            if !name.is_empty() {
                check_header(&format!("http.identity.{place}"), name)?;
            }
        }
        for (index, name) in headers.iter().enumerate() {
            let place = format!("http.identity.headers[{index}]");
            check_header(&place, name)?;
            if headers.iter().take(index).any(|other| other == name) {
                return Err(format!("{place}: {name:?} is named twice; name it once"));
            }
        }
        let limits = &self.limits;
        within("http.limits.held_body_bytes", limits.held_body_bytes, MAX_HELD_BYTES)?;
        within("http.limits.json_depth", limits.json_depth, MAX_DEPTH)?;
        within("http.limits.json_key_bytes", limits.json_key_bytes, MAX_KEY_BYTES)?;
        within("http.limits.waiting_body_bytes", limits.waiting_body_bytes, MAX_HELD_BYTES)
    }
}

fn check_header(place: &str, name: &str) -> Result<(), String> {
    if !is_header(name) {
        return Err(format!(
            "{place}: {name:?} is no header's name in lower case; write it as x-name is written"
        ));
    }
    if NO_IDENTITY.contains(&name) || name.starts_with("content-") {
        return Err(format!(
            "{place}: {name:?} says nothing of who asks, or is a secret; name another header"
        ));
    }
    Ok(())
}
