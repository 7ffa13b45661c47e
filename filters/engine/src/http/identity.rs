//! Who asks: what Envoy verified, and the header fields that the configuration trusts. Nothing else of a request says it.

use std::collections::BTreeMap;
use std::rc::Rc;

use fieldveil_config::{Config, HttpConfig};
use fieldveil_plan::{PlanInput, SessionInput};
use serde_json::{Map, Value};

use super::head::{Head, Peer, is_alike};
use super::problem::Problem;
use crate::fetch::hash_of;
use crate::principals::{Principal, Principals};

/// Bytes of one header field that says who asks: each principal's question to the policy is kept with its plan.
const MAX_IDENTITY_BYTES: usize = 4096;

/// What a request says of who asks. All else that the policy is asked by is the configuration's, and the same for all requests.
#[derive(Hash)]
struct RequestIdentity<'r> {
    source: &'r str,
    user: &'r str,
    purpose: &'r str,
    headers: BTreeMap<&'r str, &'r str>,
    claims: &'r Map<String, Value>,
}

/// Who asks with a request of which nothing is known but where it comes from.
pub(super) fn of_anybody(config: &Config, http: &HttpConfig, source: &str) -> Rc<Principal> {
    let claims = Map::new();
    let identity =
        RequestIdentity { source, user: "", purpose: "", headers: BTreeMap::new(), claims: &claims };
    Principal::new(hash_of(&identity), identity.to_input(config, http))
}

/// Who asks with this request: somebody who is known, or who is remembered from now on. A header field that says who asks is
/// told once, or somebody may have added theirs to it. Of the peer only the claims stay that the policy is told.
pub(super) fn read(
    config: &Config,
    http: &HttpConfig,
    principals: &mut Principals,
    head: &Head,
    peer: &mut Peer,
) -> Result<Rc<Principal>, Problem> {
    let trusted = &http.identity;
    let user = once_if_named(head, &trusted.user_header)?;
    let purpose = once_if_named(head, &trusted.purpose_header)?;
    let mut headers = BTreeMap::new();
    for name in &trusted.headers {
        let value = once(head, name)?;
        if head.first(name).is_some() {
            headers.insert(name.as_str(), value);
        }
    }
    let is_told = |name: &String| !trusted.jwt_payload.is_empty() && !trusted.claims_left_out.contains(name);
    peer.claims.retain(|name, _| is_told(name));
    let identity = RequestIdentity { source: &peer.source, user, purpose, headers, claims: &peer.claims };
    let hash = hash_of(&identity);
    if let Some(known) = principals.known(hash, |input| identity.is_of(input)) {
        return Ok(known);
    }
    let principal = Principal::new(hash, identity.to_input(config, http));
    principals.remember(&principal);
    Ok(principal)
}

impl RequestIdentity<'_> {
    /// Whether this input says the same of who asks.
    fn is_of(&self, input: &PlanInput) -> bool {
        let Self { source, user, purpose, headers, claims } = self;
        let session = &input.session;
        let told = input.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        (*source, *user, *purpose) == (&session.source, &session.user, &session.purpose)
            && headers.iter().map(|(name, value)| (*name, *value)).eq(told)
            && **claims == input.claims
    }

    /// The policy's input.
    fn to_input(&self, config: &Config, http: &HttpConfig) -> PlanInput {
        let session = SessionInput {
            database: http.service.clone(),
            source: self.source.to_owned(),
            user: self.user.to_owned(),
            purpose: self.purpose.to_owned(),
            ..SessionInput::default()
        };
        PlanInput {
            protocol: "http".into(),
            listener: config.listener.clone(),
            workload: config.workload.clone(),
            session,
            claims: self.claims.clone(),
            headers: self.headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..PlanInput::default()
        }
    }
}

/// The one value of a header field, or nothing.
fn once<'r>(head: &'r Head, name: &'r str) -> Result<&'r str, Problem> {
    let refuse = |reason: &str| Problem::ambiguous_identity(name, reason);
    // Who drops what clients send of the one may let the other pass, and the service may go by that.
    if head.names().any(|known| known != name && is_alike(known, name)) {
        return Err(refuse("another spelling of it comes, which services take for it"));
    }
    let mut values = head.all(name);
    let Some(value) = values.next() else { return Ok("") };
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
    Ok(text)
}

/// The same where the configuration names a header field.
fn once_if_named<'r>(head: &'r Head, name: &'r str) -> Result<&'r str, Problem> {
    if name.is_empty() { Ok("") } else { once(head, name) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use fieldveil_config::Protocol;

    const CLAIMS: &str = "claims";

    fn config() -> Config {
        let identity = json!({"user_header": "x-user", "purpose_header": "x-purpose",
            "headers": ["x-team", "x-area"], "jwt_payload": CLAIMS});
        let config = json!({"listener": "l",
            "policy": {"cluster": "opa", "path": "/p", "timeout_ms": 1000},
            "keys": {"cluster": "key_agent", "path": "/k", "timeout_ms": 1000, "refresh_seconds": 10,
                "max_stale_seconds": 600},
            "http": {"service": "shop", "identity": identity}});
        Config::from_json(config.to_string().as_bytes(), Protocol::Http, &|_| None).unwrap()
    }

    /// A request from an address, with header fields and claims.
    type Request = (&'static str, &'static [(&'static str, &'static str)], Value);

    fn asks(config: &Config, principals: &mut Principals, request: &Request) -> Rc<Principal> {
        let (source, fields, claims) = request;
        let field = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
        let head = Head(fields.iter().map(field).collect());
        let claims = claims.as_object().cloned().unwrap_or_default();
        let mut peer = Peer { source: (*source).to_owned(), claims };
        let http = config.http.as_ref().unwrap();
        read(config, http, principals, &head, &mut peer).unwrap()
    }

    /// Requests of which no two come from the same principal.
    fn requests() -> Vec<Request> {
        vec![
            ("", &[], json!({})),
            ("10.0.0.1", &[], json!({})),
            ("10.0.0.1", &[("x-user", "ada")], json!({})),
            ("10.0.0.1", &[("x-purpose", "ada")], json!({})),
            ("10.0.0.1", &[("x-team", "ada")], json!({})),
            ("10.0.0.1", &[("x-area", "ada")], json!({})),
            ("10.0.0.1", &[("x-team", "")], json!({})),
            ("10.0.0.1", &[("x-team", "a"), ("x-area", "da")], json!({})),
            ("10.0.0.1", &[], json!({"sub": "ada"})),
            ("10.0.0.1", &[], json!({"sub": "ada", "groups": ["a"]})),
            ("10.0.0.1", &[], json!({"sub": "ada", "groups": ["a", "b"]})),
            ("10.0.0.1", &[], json!({"sub": 1})),
            ("10.0.0.1", &[], json!({"sub": "1"})),
        ]
    }

    #[test]
    fn who_asks_again_is_known_and_nobody_is_taken_for_another() {
        let (config, mut principals) = (config(), Principals::default());
        let first: Vec<_> =
            requests().iter().map(|request| asks(&config, &mut principals, request)).collect();
        for (request, first) in requests().iter().zip(&first) {
            let again = asks(&config, &mut principals, request);
            assert!(Rc::ptr_eq(first, &again), "{:?}", request.1);
            let anew = asks(&config, &mut Principals::default(), request);
            assert_eq!(again.key.request(), anew.key.request());
        }
        let distinct: std::collections::BTreeSet<_> = first.iter().map(|known| known.key.request()).collect();
        assert_eq!(distinct.len(), first.len());
    }

    #[test]
    fn principals_with_one_hash_are_told_apart() {
        let (config, mut principals) = (config(), Principals::default());
        let [other, request] = [&requests()[2], &requests()[3]];
        let hash = asks(&config, &mut Principals::default(), request).hash;
        let input = asks(&config, &mut Principals::default(), other).input.clone();
        principals.remember(&Principal::new(hash, input));
        let found = asks(&config, &mut principals, request);
        assert_eq!(found.input.session.purpose, "ada");
        assert_eq!(found.input.session.user, "");
    }

    #[test]
    fn claims_of_a_token_alone_make_no_other_principal() {
        let (config, mut principals) = (config(), Principals::default());
        let [one, two] = [1, 2].map(|at| ("", &[][..], json!({"sub": "ada", "exp": at, "jti": at})));
        let known = asks(&config, &mut principals, &one);
        assert!(Rc::ptr_eq(&known, &asks(&config, &mut principals, &two)));
        assert_eq!(known.input.claims.len(), 1);
    }

    #[test]
    fn long_questions_are_not_kept() {
        let (config, mut principals) = (config(), Principals::default());
        let request = ("", &[][..], json!({"sub": "a".repeat(5000)}));
        let first = asks(&config, &mut principals, &request);
        assert!(!Rc::ptr_eq(&first, &asks(&config, &mut principals, &request)));
    }
}
