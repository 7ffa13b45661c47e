//! What one Envoy worker holds for all its connections: plans by principal, the keyring, analyzed
//! statements. Each is bounded, and each knows its age.

use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard};

use fieldveil_config::Config;
use fieldveil_plan::Workload;
use fieldveil_sql::{Catalog, Names, Refusal};

use crate::analyses::{Analyses, WeighedAnalysis};
use crate::audit::{Audit, Audits};
use crate::budgets::Budgets;
use crate::compiled_plan::CompiledPlan;
use crate::fetch::{Fetch, FetchResponse, PrincipalKey};
use crate::key_uses::{Added, KeyUse, KeyUses};
use crate::keyring::Keyring;
use crate::locks::lock;
use crate::memory::{Account, User, Users};
use crate::plans::Holder;
use crate::principals::{Principal, Principals};
use crate::reports::{Ages, add_count};
use crate::server_catalog::{KnownCatalogs, ServerCatalog};
use crate::sidecar_state::SidecarState;
use crate::value_buffers::Buffers;
use crate::value_counts::ValueCounts;

/// Bytes of unfinished messages that all connections may hold together: a Wasm module has about 1 GB in all, and
/// reading a message takes several times its length.
const MAX_HELD_BY_ALL: usize = 128 << 20;

pub use crate::reports::Counts;

/// One worker's shared state.
///
/// Large: it joins what all connections of a worker share, and lends each part of it.
pub struct Worker {
    /// What it shares with the other workers of the process.
    pub state: Arc<SidecarState>,
    /// What is to be told of its connections.
    pub audits: Audits,
    /// What is known of those who ask over HTTP.
    pub principals: Principals,
    /// Buffers for values, unless a callback has them.
    pub(crate) buffers: Option<Box<Buffers>>,
    /// The catalogs that sessions to come may have.
    pub(crate) known_catalogs: KnownCatalogs,
    key_uses: KeyUses,
    analyses: Analyses,
    counts: Counts,
    values: Arc<Mutex<ValueCounts>>,
    held: usize,
    users: Users,
    /// The catalogs that there are.
    catalogs: Vec<Weak<ServerCatalog>>,
}

impl Worker {
    /// With a state of its own, and nothing fetched yet.
    pub fn new(config: Config) -> Self {
        Self::sharing(Arc::new(SidecarState::new(config)))
    }

    /// The same for a filter of databases, whatever plans say of services.
    pub fn of_databases(config: Config) -> Self {
        Self::sharing(Arc::new(SidecarState::of_databases(config)))
    }

    /// A worker that shares this state with the others of its process.
    pub fn sharing(state: Arc<SidecarState>) -> Self {
        Self {
            audits: Audits::default(),
            principals: Principals::default(),
            buffers: None,
            known_catalogs: KnownCatalogs::default(),
            key_uses: KeyUses::default(),
            analyses: Analyses::default(),
            counts: Counts::new(),
            values: Arc::default(),
            held: 0,
            users: Users::default(),
            catalogs: Vec::new(),
            state,
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
        self.state.hold_plan(principal, holder, in_vain, now_ms)
    }

    /// The same of whom a single statement is for, or a session that the server has not let in; it is not kept.
    pub fn plan_in_passing(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        self.state.plan_in_passing(principal, holder, in_vain, now_ms)
    }

    /// Brings a workload up to date, where the key agent is who says its SPIFFE id. Gives whether it is another now; None
    /// while the agent has not said it, and nobody may be asked for a plan.
    pub fn identify(&self, workload: &mut Workload) -> Option<bool> {
        let id = self.new_spiffe_id(workload)?;
        if let Some(id) = id {
            workload.spiffe_id = id;
            return Some(true);
        }
        Some(false)
    }

    /// The same of a principal. Another one takes its place where the workload is another now, and is remembered.
    pub fn identify_principal(&mut self, principal: &mut Rc<Principal>) -> Option<()> {
        if let Some(id) = self.new_spiffe_id(&principal.input.workload)? {
            let mut input = principal.input.clone();
            input.workload.spiffe_id = id;
            *principal = Principal::new(principal.hash, input);
            self.principals.remember(principal);
        }
        Some(())
    }

    /// The SPIFFE id that a workload with another one has now. Nothing within where it has the right one.
    fn new_spiffe_id(&self, workload: &Workload) -> Option<Option<String>> {
        if !self.state.config.spiffe_id_is_key_agents {
            return Some(None);
        }
        let keyring = self.state.latest_keyring()?;
        Some((workload.spiffe_id != keyring.spiffe_id).then(|| keyring.spiffe_id.clone()))
    }

    /// The filter's configuration.
    pub fn config(&self) -> &Config {
        &self.state.config
    }

    /// What has been revealed to whom. Other workers wait until the guard is dropped.
    pub fn budgets(&self) -> MutexGuard<'_, Budgets> {
        self.state.budgets()
    }

    /// See [`SidecarState::keyring`].
    pub fn keyring(&self, now_ms: u64) -> Option<Arc<Keyring>> {
        self.state.keyring(now_ms)
    }

    /// See [`SidecarState::latest_keyring`].
    pub fn latest_keyring(&self) -> Option<Arc<Keyring>> {
        self.state.latest_keyring()
    }

    /// See [`SidecarState::fetch_keys`].
    pub fn fetch_keys(&self, now_ms: u64) -> Fetch {
        self.state.fetch_keys(now_ms)
    }

    /// See [`SidecarState::due`].
    pub fn due(&self, now_ms: u64) -> Vec<Fetch> {
        self.state.due(now_ms)
    }

    /// See [`SidecarState::due_plans`].
    pub fn due_plans(&self, now_ms: u64) -> Vec<Fetch> {
        self.state.due_plans(now_ms)
    }

    /// See [`SidecarState::ages`].
    pub fn ages(&self, now_ms: u64, in_use: usize) -> Ages {
        self.state.ages(now_ms, in_use)
    }

    /// See [`SidecarState::answered`].
    pub fn answered(&self, fetch: &Fetch, answer: FetchResponse<'_>, now_ms: u64) -> Result<(), String> {
        self.state.answered(fetch, answer, now_ms)
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
        add_count(&mut self.counts, name, by);
    }

    /// The audit of a connection, with this random name.
    pub fn audit(&self, session: String) -> Audit {
        Audit::new(session, self.state.audit_interval_ms(), Arc::clone(&self.values))
    }

    /// The audit's lines whose interval is over, of connections and of those who ask over HTTP.
    pub fn audit_lines(&mut self, now_ms: u64) -> Vec<String> {
        let mut lines = self.audits.lines(now_ms);
        lines.append(&mut self.state.principals.lines(now_ms));
        lines
    }

    /// Hands over what was counted since the last time, by this worker and by what it shares with others.
    pub fn take_counts(&mut self) -> Counts {
        let mut counts = self.take_own_counts();
        self.state.take_counts().into_iter().for_each(|(name, count)| add_count(&mut counts, name, count));
        counts
    }

    /// Hands over what this worker alone has counted since the last time.
    pub fn take_own_counts(&mut self) -> Counts {
        self.audits.settle();
        let mut counts = std::mem::take(&mut self.counts);
        lock(&self.values).take(|name, count| add_count(&mut counts, name, count));
        counts
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
        let (statistic, line) = self.key_uses.reached(key, total, self.state.config.limits.key_uses)?;
        self.count(&statistic, 1);
        Some(line)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
