//! What all workers of one process share: plans by principal, the keyring, and spent budgets. Each part has a lock of its own.
//! No method holds two locks at once, so that threads cannot wait for each other in a circle.

use std::sync::{Arc, Mutex, MutexGuard};

use fieldveil_config::Config;
use fieldveil_plan::Plan;

use crate::audit::{Audit, PrincipalAudits};
use crate::budgets::Budgets;
use crate::compiled_plan::CompiledPlan;
use crate::fetch::{Fetch, FetchResponse, KeysQuestion, PrincipalKey, Tenants};
use crate::held_keys::{HeldKeys, KeysAnswer};
use crate::keyring::Keyring;
use crate::locks::lock;
use crate::plans::{Holder, Plans};
use crate::reports::{Ages, Counts, Held, add_count};
use crate::routes::{MakeReady, Services};
use crate::value_counts::ValueCounts;

/// Tenants' keysets that are asked for at most, first those of sessions' principals, then of the plans that were used last. Each takes
/// a few KB of memory, and 2 KB of the answer.
const MAX_TENANTS: usize = 1024;

/// The state that the workers of one process share.
pub struct SidecarState {
    /// The filter's configuration.
    pub config: Config,
    plans: Mutex<Plans>,
    /// Prepares what a plan says of a service.
    ready: Mutex<MakeReady>,
    keys: Mutex<HeldKeys>,
    budgets: Mutex<Budgets>,
    counts: Mutex<Counts>,
    /// The audits of those who ask over HTTP.
    pub principals: PrincipalAudits,
    /// The values of those.
    values: Arc<Mutex<ValueCounts>>,
}

impl SidecarState {
    /// With nothing fetched yet.
    pub fn new(config: Config) -> Self {
        Self::with(config, Services::serving())
    }

    /// The same for a filter of databases, whatever plans say of services.
    pub fn of_databases(config: Config) -> Self {
        Self::with(config, Box::new(|_| Ok(None)))
    }

    fn with(config: Config, ready: MakeReady) -> Self {
        Self {
            plans: Mutex::default(),
            ready: Mutex::new(ready),
            keys: Mutex::new(HeldKeys::new(config.spiffe_id_is_key_agents)),
            budgets: Mutex::default(),
            counts: Mutex::default(),
            principals: PrincipalAudits::default(),
            values: Arc::default(),
            config,
        }
    }

    /// What has been revealed to whom. Others wait until the guard is dropped, and one thread must not have two of them.
    pub fn budgets(&self) -> MutexGuard<'_, Budgets> {
        lock(&self.budgets)
    }

    /// Returns the plan of a session's principal, and keeps it for the session. See [`Plans::hold`].
    pub fn hold_plan(
        &self,
        principal: &PrincipalKey,
        holder: &mut Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        lock(&self.plans).hold(principal, holder, in_vain, now_ms)
    }

    /// Returns a principal's plan, and does not keep it for the session. See [`Plans::get`].
    pub fn plan_in_passing(
        &self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        lock(&self.plans).get(principal, holder, in_vain, now_ms)
    }

    /// The keyring, unless it is not there or too old.
    pub fn keyring(&self, now_ms: u64) -> Option<Arc<Keyring>> {
        let limit = self.config.keys.max_stale_seconds.saturating_mul(1000);
        let keys = lock(&self.keys);
        keys.latest().filter(|_| keys.age_ms(now_ms) <= limit).cloned()
    }

    /// The keyring, however old: for what was let in before.
    pub fn latest_keyring(&self) -> Option<Arc<Keyring>> {
        lock(&self.keys).latest().cloned()
    }

    /// What to fetch so that the keyring is there, with the tenants' keysets of all plans in use.
    pub fn fetch_keys(&self, now_ms: u64) -> Fetch {
        let wanted = self.wanted_tenants(now_ms);
        Fetch::Keys(lock(&self.keys).question(wanted, now_ms))
    }

    /// The tenants' keysets that plans in use name.
    fn wanted_tenants(&self, now_ms: u64) -> Tenants {
        let mut wanted = Tenants::new();
        let mut left_out = false;
        for plan in lock(&self.plans).used(now_ms) {
            for name in &plan.tenant_keysets {
                if wanted.len() < MAX_TENANTS {
                    wanted.insert(Arc::clone(name));
                } else {
                    left_out |= !wanted.contains(name);
                }
            }
        }
        if left_out {
            self.count("tenant_keysets.over_limit", 1);
        }
        wanted
    }

    /// What is due for renewal now; called on every tick.
    pub fn due(&self, now_ms: u64) -> Vec<Fetch> {
        let mut due: Vec<_> = self.due_keys(now_ms).map(Fetch::Keys).into_iter().collect();
        lock(&self.plans).tidy(now_ms);
        due.extend(self.due_plans(now_ms));
        due
    }

    fn due_keys(&self, now_ms: u64) -> Option<KeysQuestion> {
        let refresh_ms = self.config.keys.refresh_seconds.saturating_mul(1000);
        let wanted = self.wanted_tenants(now_ms);
        let mut keys = lock(&self.keys);
        keys.is_due(&wanted, refresh_ms, now_ms).then(|| keys.question(wanted, now_ms))
    }

    /// Which plans are to be renewed now; called on every tick, and when one has been.
    pub fn due_plans(&self, now_ms: u64) -> Vec<Fetch> {
        lock(&self.plans).due(now_ms).into_iter().map(Fetch::Plan).collect()
    }

    /// How old the keysets are, and the oldest plan in use, while so many bytes of memory are in use.
    pub fn ages(&self, now_ms: u64, in_use: usize) -> Ages {
        let memory = u64::try_from(in_use).unwrap_or(u64::MAX);
        let keysets = lock(&self.keys).age_ms(now_ms);
        Ages { keysets, plans: lock(&self.plans).age_ms(now_ms), memory }
    }

    /// Shows how many plans there are, by their bundle. Threads that look for a plan wait meanwhile.
    pub fn show_held_plans<T>(&self, show: impl FnOnce(&Held) -> T) -> T {
        show(lock(&self.plans).held())
    }

    /// Takes in what came of a fetch. The error says why it could not be used; what was held before is still held.
    pub fn answered(&self, fetch: &Fetch, answer: FetchResponse<'_>, now_ms: u64) -> Result<(), String> {
        match (fetch, answer) {
            (Fetch::Plan(principal), FetchResponse::Body { body, .. }) => {
                self.take_plan(principal, body, now_ms)
            }
            (Fetch::Plan(_), FetchResponse::NotModified) => Err("OPA answered 304 to a POST".into()),
            (Fetch::Keys(question), answer) => {
                let answer = KeysAnswer::read(answer, self.latest_keyring().as_deref())?;
                lock(&self.keys).take(question, answer, now_ms)
            }
            (Fetch::Plan(principal), FetchResponse::Failed(reason)) => {
                lock(&self.plans).answered(principal, true);
                Err(reason)
            }
        }
    }

    /// Takes over a plan. It is made ready without the lock that statements take.
    fn take_plan(&self, principal: &PrincipalKey, body: &[u8], now_ms: u64) -> Result<(), String> {
        lock(&self.plans).answered(principal, false);
        let plan = Plan::from_json(body).map_err(|e| e.to_string())?;
        if lock(&self.plans).confirm(principal, &plan, now_ms) {
            return Ok(());
        }
        let plan = CompiledPlan::with(plan, &mut lock(&self.ready)).map_err(|e| e.to_string())?;
        if plan.has_expired(now_ms) {
            return Err(
                "the plan has expired already; see that OPA and the sidecar have the same time".into()
            );
        }
        let plan = Arc::new(plan);
        lock(&self.plans).put(principal, Arc::clone(&plan), now_ms);
        if plan.denied.is_some() {
            self.count("plans.denied", 1);
        }
        if !plan.break_glass.is_empty() {
            self.count("plans.break_glass", 1);
        }
        Ok(())
    }

    /// Counts an outcome of the process under a statistic's name.
    pub fn count(&self, name: &str, by: u64) {
        add_count(&mut lock(&self.counts), name, by);
    }

    /// Hands over what the process has counted since the last time, beside what its workers have.
    pub fn take_counts(&self) -> Counts {
        self.principals.settle();
        let mut counts = std::mem::take(&mut *lock(&self.counts));
        lock(&self.values).take(|name, by| add_count(&mut counts, name, by));
        counts
    }

    /// How often lines of the audit are written.
    pub fn audit_interval_ms(&self) -> u64 {
        self.config.audit.interval_seconds.saturating_mul(1000)
    }

    /// The audit of somebody who asks over HTTP, with this random name.
    pub fn audit(&self, session: String) -> Audit {
        Audit::new(session, self.audit_interval_ms(), Arc::clone(&self.values))
    }
}
