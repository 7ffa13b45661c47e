//! What the policy and the key agent answer.

use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::keyring::Keyring;
use fieldveil_engine::routes::Service;
use fieldveil_plan::Plan;
use fieldveil_tink::Keyset;

/// Keysets in both of Tink's forms, and the agent's answer around them.
pub(crate) fn keyset(bytes: &[u8]) {
    for keyset in [Keyset::from_json(bytes), Keyset::from_protobuf(bytes)].into_iter().flatten() {
        assert!(keyset.key_ids().any(|id| id == keyset.primary_key_id()), "the primary key is there");
    }
    let held = Keyring::from_json(bytes, None);
    let again = Keyring::from_json(bytes, held.as_ref().ok());
    assert_eq!(held.is_ok(), again.is_ok());
}

/// A plan, and what is made of it; the filter's own configuration beside it.
pub(crate) fn plan(bytes: &[u8]) {
    let _ =
        [Protocol::Postgres, Protocol::Http].map(|protocol| Config::from_json(bytes, protocol, &|_| None));
    let Ok(plan) = Plan::from_json(bytes) else { return };
    let fields = plan.fields.len();
    if let Ok(compiled) = CompiledPlan::new(plan) {
        assert_eq!(compiled.fields.len(), fields);
        compiled.service.iter().for_each(|service| spellings(service));
    }
}

/// However a path is spelt, it fits the same routes.
fn spellings(service: &Service) {
    for (plain, others) in [
        ("/customers/7", ["//customers//7/", "/%63ustomers;v=1/%37"]),
        ("/a", ["/a;b", "/%61///"]),
        ("/", ["//", "*"]),
    ] {
        let expected = service.route("GET", plain).map(|route| (route.matched, route.query.len()));
        for path in others {
            let found = service.route("GET", path).map(|route| (route.matched, route.query.len()));
            assert_eq!(found, expected, "{path}");
        }
    }
}
