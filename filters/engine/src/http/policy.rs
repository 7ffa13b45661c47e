//! Plan and keys for one exchange: taken from the worker, or waited for.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::problem::Problem;
use crate::compiled_plan::CompiledPlan;
use crate::fetch::Fetch;
use crate::keyring::Keyring;
use crate::plans::Holder;
use crate::principals::Principal;
use crate::worker::Worker;

/// Questions are asked at most so often: for keys that tell who runs here, for plan and keys, once more for the keysets of
/// the plan's tenants, and once for what has grown too old meanwhile.
const MAX_ROUNDS: u8 = 4;

/// Whose exchange it is, and what it still waits for.
pub(super) struct PolicyLookup {
    pub(super) principal: Rc<Principal>,
    holder: Holder,
    /// Why the last question for the plan, for the keys failed.
    failures: BTreeMap<&'static str, String>,
    outstanding: Vec<Fetch>,
    rounds: u8,
    asked_for_tenants: bool,
}

/// Whether the exchange can go on.
pub(super) enum PolicyReadiness {
    /// With these, to its end.
    Ready(Arc<CompiledPlan>, Arc<Keyring>),
    /// These must be fetched first.
    Fetch(Vec<Fetch>),
    /// They were fetched in vain.
    Refuse(Problem),
}

impl PolicyLookup {
    pub(super) fn new(principal: Rc<Principal>) -> Self {
        Self {
            principal,
            holder: Holder::default(),
            failures: BTreeMap::new(),
            outstanding: Vec::new(),
            rounds: 0,
            asked_for_tenants: false,
        }
    }

    /// One of the questions was answered. Returns whether nothing more is waited for; an answer to a question that was
    /// not asked changes nothing.
    pub(super) fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) -> bool {
        let Some(at) = self.outstanding.iter().position(|asked| asked == fetch) else { return false };
        self.outstanding.remove(at);
        if let Err(reason) = result {
            self.failures.insert(part(fetch), reason);
        }
        self.outstanding.is_empty()
    }

    /// Takes plan and keys from the worker. What is missing is to be fetched, unless a fetch just failed.
    pub(super) fn ready(&mut self, worker: &mut Worker, now_ms: u64) -> PolicyReadiness {
        let failures = std::mem::take(&mut self.failures);
        if worker.identify_principal(&mut self.principal).is_none() {
            return match self.in_vain(&failures, "keys") {
                Some(reason) => PolicyReadiness::Refuse(no_keys(reason)),
                None => self.fetch(vec![worker.fetch_keys(now_ms)]),
            };
        }
        let principal = &self.principal.key;
        let plan = worker.plan_in_passing(principal, &self.holder, failures.contains_key("plan"), now_ms);
        let keyring = worker.keyring(now_ms);
        let (plan, keyring) = match (plan, keyring) {
            (Some(plan), Some(keyring)) => (plan, keyring),
            (plan, keyring) => {
                if plan.is_none()
                    && let Some(reason) = self.in_vain(&failures, "plan")
                {
                    return PolicyReadiness::Refuse(no_plan(reason));
                }
                if keyring.is_none()
                    && let Some(reason) = self.in_vain(&failures, "keys")
                {
                    return PolicyReadiness::Refuse(no_keys(reason));
                }
                let mut fetches = Vec::new();
                if plan.is_none() {
                    fetches.push(Fetch::Plan(principal.clone()));
                }
                if keyring.is_none() {
                    fetches.push(worker.fetch_keys(now_ms));
                }
                return self.fetch(fetches);
            }
        };
        if let Some(missing) = plan.missing_keys(&keyring) {
            return PolicyReadiness::Refuse(Problem::no_keyset(&missing));
        }
        if !self.asked_for_tenants && plan.lacks_tenant_keys(&keyring) {
            self.asked_for_tenants = true;
            return self.fetch(vec![worker.fetch_keys(now_ms)]);
        }
        PolicyReadiness::Ready(plan, keyring)
    }

    fn in_vain<'a>(&self, failures: &'a BTreeMap<&'static str, String>, part: &str) -> Option<&'a str> {
        let failed = failures.get(part).map(String::as_str);
        failed.or_else(|| (self.rounds >= MAX_ROUNDS).then_some("what was answered could not be used"))
    }

    fn fetch(&mut self, fetches: Vec<Fetch>) -> PolicyReadiness {
        self.rounds = self.rounds.saturating_add(1);
        self.outstanding.clone_from(&fetches);
        PolicyReadiness::Fetch(fetches)
    }
}

fn no_plan(reason: &str) -> Problem {
    let remedy = "Start OPA or mend the policy it serves, then ask again; the sidecar need not restart.";
    Problem::unavailable("the policy (OPA)", reason, remedy)
}

fn no_keys(reason: &str) -> Problem {
    let remedy = "Start the key agent or mend its keysets, then ask again; the sidecar need not restart.";
    Problem::unavailable("the key agent", reason, remedy)
}

fn part(fetch: &Fetch) -> &'static str {
    match fetch {
        Fetch::Plan(_) => "plan",
        Fetch::Keys(_) => "keys",
    }
}
