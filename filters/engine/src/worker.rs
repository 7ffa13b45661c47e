//! What one Envoy worker holds for all its connections: plans by principal, the keyring, analyzed
//! statements. Each is bounded, and each knows its age.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use fieldveil_config::Config;
use fieldveil_plan::Workload;
use fieldveil_sql::{Catalog, Names, Refusal};

use crate::analyses::{Analyses, WeighedAnalysis};
use crate::audit::{Audit, Audits};
use crate::budgets::Budgets;
use crate::compiled_plan::CompiledPlan;
use crate::fetch::{Fetch, FetchResponse, PrincipalKey, Tenants};
use crate::held_keys::HeldKeys;
use crate::key_uses::{Added, KeyUse, KeyUses};
use crate::keyring::Keyring;
use crate::memory::{Account, User, Users};
use crate::plans::{Holder, Plans};
use crate::principals::{Principal, Principals};
use crate::reports::{Ages, Held};
use crate::routes::{MakeReady, Services};
use crate::server_catalog::{KnownCatalogs, ServerCatalog};
use crate::value_buffers::Buffers;
use crate::value_counts::ValueCounts;

/// Bytes of unfinished messages that all connections may hold together: a Wasm module has about 1 GB in all, and
/// reading a message takes several times its length.
const MAX_HELD_BY_ALL: usize = 128 << 20;
/// Tenants' keysets that are asked for at most, first those of sessions' principals, then of the plans that were used last. Each takes
/// a few KB of memory, and 2 KB of the answer.
const MAX_TENANTS: usize = 1024;

/// Counts since the last [`Worker::take_counts`], by statistic name.
pub type Counts = std::collections::BTreeMap<String, u64>;

/// One worker's shared state.
///
/// Large: it joins what all connections of a worker share, and lends each part of it.
pub struct Worker {
    /// The filter's configuration.
    pub config: Config,
    /// What is to be told of its connections.
    pub audits: Audits,
    /// The audits of those who ask over HTTP.
    pub principals: Principals,
    /// What has been revealed to whom.
    pub budgets: Budgets,
    /// Buffers for values, unless a callback has them.
    pub(crate) buffers: Option<Box<Buffers>>,
    /// The catalogs that sessions to come may have.
    pub(crate) known_catalogs: KnownCatalogs,
    plans: Plans,
    keys: HeldKeys,
    key_uses: KeyUses,
    analyses: Analyses,
    counts: Counts,
    values: Rc<RefCell<ValueCounts>>,
    held: usize,
    users: Users,
    /// The catalogs that there are.
    catalogs: Vec<Weak<ServerCatalog>>,
}

impl Worker {
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
            audits: Audits::default(),
            principals: Principals::default(),
            budgets: Budgets::default(),
            buffers: None,
            known_catalogs: KnownCatalogs::default(),
            plans: Plans::new(ready),
            keys: HeldKeys::new(config.spiffe_id_is_key_agents),
            key_uses: KeyUses::default(),
            analyses: Analyses::default(),
            counts: Counts::new(),
            values: Rc::default(),
            held: 0,
            users: Users::default(),
            catalogs: Vec::new(),
            config,
        }
    }

    /// The plan of a session's principal, unless it is not there, too old, past the moment until which it holds, or was not
    /// asked for in long; the last does not count if that was just tried `in_vain`. It is kept for the session until that
    /// asks for another's, or ends.
    pub fn plan(
        &mut self,
        principal: &PrincipalKey,
        holder: &mut Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        self.plans.hold(principal, holder, in_vain, now_ms)
    }

    /// The same of whom a single statement is for, or a session that the server has not let in; it is not kept.
    pub fn plan_in_passing(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        self.plans.get(principal, holder, in_vain, now_ms)
    }

    /// Brings a workload up to date, where the key agent is who says its SPIFFE id. Gives whether it is another now; None
    /// while the agent has not said it, and nobody may be asked for a plan.
    pub fn identify(&self, workload: &mut Workload) -> Option<bool> {
        let id = self.new_spiffe_id(workload)?;
        if let Some(id) = id {
            id.clone_into(&mut workload.spiffe_id);
        }
        Some(id.is_some())
    }

    /// The same of a principal. Another one takes its place where the workload is another now, and is remembered.
    pub fn identify_principal(&mut self, principal: &mut Rc<Principal>) -> Option<()> {
        if let Some(id) = self.new_spiffe_id(&principal.input.workload)? {
            let mut input = principal.input.clone();
            id.clone_into(&mut input.workload.spiffe_id);
            *principal = Principal::new(principal.hash, input);
            self.principals.remember(principal);
        }
        Some(())
    }

    /// The SPIFFE id that a workload with another one has now. Nothing within where it has the right one.
    fn new_spiffe_id(&self, workload: &Workload) -> Option<Option<&str>> {
        if !self.config.spiffe_id_is_key_agents {
            return Some(None);
        }
        let id = self.keys.latest()?.spiffe_id.as_str();
        Some((workload.spiffe_id != id).then_some(id))
    }

    /// The keyring, unless it is not there or too old.
    pub fn keyring(&self, now_ms: u64) -> Option<Arc<Keyring>> {
        let limit = self.config.keys.max_stale_seconds.saturating_mul(1000);
        self.keys.latest().filter(|_| self.keys.age_ms(now_ms) <= limit).cloned()
    }

    /// The keyring, however old: for what was let in before.
    pub fn latest_keyring(&self) -> Option<Arc<Keyring>> {
        self.keys.latest().cloned()
    }

    /// What to fetch so that the keyring is there, with the tenants' keysets of all plans in use.
    pub fn fetch_keys(&mut self, now_ms: u64) -> Fetch {
        let wanted = self.wanted_tenants(now_ms);
        Fetch::Keys(self.keys.question(wanted, now_ms))
    }

    /// The tenants' keysets that plans in use name.
    fn wanted_tenants(&mut self, now_ms: u64) -> Tenants {
        let mut wanted = Tenants::new();
        let mut left_out = false;
        for plan in self.plans.used(now_ms) {
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
    pub fn due(&mut self, now_ms: u64) -> Vec<Fetch> {
        let mut due = Vec::new();
        let refresh_ms = self.config.keys.refresh_seconds.saturating_mul(1000);
        let wanted = self.wanted_tenants(now_ms);
        if self.keys.is_due(&wanted, refresh_ms, now_ms) {
            due.push(Fetch::Keys(self.keys.question(wanted, now_ms)));
        }
        self.plans.tidy(now_ms);
        due.extend(self.due_plans(now_ms));
        due
    }

    /// Which plans are to be renewed now; called on every tick, and when one has been.
    pub fn due_plans(&mut self, now_ms: u64) -> Vec<Fetch> {
        self.plans.due(now_ms).into_iter().map(Fetch::Plan).collect()
    }

    /// How old the keysets are, and the oldest plan in use, while so many bytes of memory are in use.
    pub fn ages(&self, now_ms: u64, in_use: usize) -> Ages {
        let memory = u64::try_from(in_use).unwrap_or(u64::MAX);
        Ages { keysets: self.keys.age_ms(now_ms), plans: self.plans.age_ms(now_ms), memory }
    }

    /// Takes in what came of a fetch. The error says why it could not be used; what was held before is
    /// still held.
    pub fn answered(&mut self, fetch: &Fetch, answer: FetchResponse<'_>, now_ms: u64) -> Result<(), String> {
        match (fetch, answer) {
            (Fetch::Plan(principal), FetchResponse::Body { body, .. }) => {
                self.take_plan(principal, body, now_ms)
            }
            (Fetch::Plan(_), FetchResponse::NotModified) => Err("OPA answered 304 to a POST".into()),
            (Fetch::Keys(question), answer) => self.keys.take(question, answer, now_ms),
            (Fetch::Plan(principal), FetchResponse::Failed(reason)) => {
                self.plans.answered(principal, true);
                Err(reason)
            }
        }
    }

    fn take_plan(&mut self, principal: &PrincipalKey, body: &[u8], now_ms: u64) -> Result<(), String> {
        let Some(plan) = self.plans.take(principal, body, now_ms)? else { return Ok(()) };
        if plan.denied.is_some() {
            self.count("plans.denied", 1);
        }
        if !plan.break_glass.is_empty() {
            self.count("plans.break_glass", 1);
        }
        Ok(())
    }

    /// The account of a user's connections.
    pub(crate) fn user(&mut self, name: &str) -> Rc<User> {
        self.users.of(name)
    }

    /// A catalog that a session has read: where another session has the very same, that one is shared.
    pub(crate) fn share(&mut self, catalog: ServerCatalog, account: &Rc<Account>) -> Rc<ServerCatalog> {
        self.catalogs.retain(|held| held.strong_count() > 0);
        let known = self.catalogs.iter().filter_map(Weak::upgrade).find(|held| **held == catalog);
        known.unwrap_or_else(|| {
            catalog.sql.build_index();
            let catalog = Rc::new(catalog.weighed(account));
            self.catalogs.push(Rc::downgrade(&catalog));
            catalog
        })
    }

    /// The analysis of `text` against the catalog with this fingerprint, from the cache where it may be kept. `in_use` tells
    /// how many bytes of memory are in use.
    pub fn analysis(
        &mut self,
        text: &str,
        catalog: &Catalog,
        fingerprint: u64,
        names: &dyn Names,
        in_use: &dyn Fn() -> usize,
    ) -> Result<WeighedAnalysis, Refusal> {
        let (analyzed, known) = self.analyses.of(text, catalog, fingerprint, names, in_use);
        self.count(if known { "statement_cache.hit" } else { "statement_cache.miss" }, 1);
        analyzed
    }

    /// A connection holds `now` bytes of unfinished messages where it held `before`. Returns whether that is
    /// within what all may hold.
    pub fn holds(&mut self, before: usize, now: usize) -> bool {
        self.held = self.held.saturating_sub(before).saturating_add(now);
        now <= before || self.held <= MAX_HELD_BY_ALL
    }

    /// Whether connections hold so much together that what need not be held should not be.
    pub fn is_crowded(&self) -> bool {
        self.held > MAX_HELD_BY_ALL / 2
    }

    /// Counts an outcome under a statistic's name.
    pub fn count(&mut self, name: &str, by: u64) {
        if let Some(count) = self.counts.get_mut(name) {
            *count = count.saturating_add(by);
        } else {
            self.counts.insert(name.to_owned(), by);
        }
    }

    /// An audit with this random name.
    pub fn audit(&self, session: String) -> Audit {
        let interval_ms = self.config.audit.interval_seconds.saturating_mul(1000);
        Audit::new(session, interval_ms, Rc::clone(&self.values))
    }

    /// Hands over what was counted since the last time.
    pub fn take_counts(&mut self) -> Counts {
        self.audits.settle();
        let mut counts = std::mem::take(&mut self.counts);
        self.values.borrow_mut().take(|name, count| {
            let counted = counts.entry(name).or_default();
            *counted = counted.saturating_add(count);
        });
        counts
    }

    /// How many plans there are, by their bundle.
    pub fn held_plans(&self) -> &Held {
        self.plans.held()
    }

    /// Counts so many uses of a key.
    pub fn count_key(&mut self, key: KeyUse, uses: u64) {
        self.key_uses.count(key, uses);
    }

    /// Hands over the uses of keys that were counted since the last time.
    pub fn take_key_uses(&mut self) -> Vec<Added> {
        self.key_uses.take()
    }

    /// The counter of a key stands at `total`, of all workers. Gives a line for the log the first time that the key is
    /// due for rotation.
    pub fn key_reached(&mut self, key: &KeyUse, total: u64) -> Option<String> {
        let (statistic, line) = self.key_uses.reached(key, total, self.config.limits.key_uses)?;
        self.count(&statistic, 1);
        Some(line)
    }
}
