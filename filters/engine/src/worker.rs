//! What one Envoy worker holds for all its connections: plans by principal, the keyring, analysed
//! statements. Each is bounded, and each knows its age.

use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_plan::Plan;
use fieldveil_sql::{Analysis, Catalog, Names, Refusal, Replacement};
use lru::LruCache;

use crate::config::Config;
use crate::field::CompiledPlan;
use crate::keyring::Keyring;

/// Plans held at most, one a principal. A plan of ten fields takes about 5 KB.
const MAX_PLANS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Analysed statements held at most.
const MAX_ANALYSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Text longer than this is analysed anew each time: 1,024 of them bound the cache to about 8 MiB.
const MAX_CACHED_TEXT: usize = 8 << 10;
/// Bytes of unfinished messages that all connections may hold together: a Wasm module has about 1 GB in all, and
/// reading a message takes several times its length.
const MAX_HELD_BY_ALL: usize = 128 << 20;
/// A plan that nobody asked for in this time is not renewed.
const IDLE_PLAN_MS: u64 = 10 * 60 * 1000;
/// Between two tries to renew one thing that could not be had.
const RETRY_MS: u64 = 1000;

/// The policy input of one principal, as the JSON that OPA is sent: the cache's key.
pub type PrincipalKey = Rc<str>;

/// Something to ask another part for, over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetch {
    /// The plan of this principal; POST this text to OPA.
    Plan(PrincipalKey),
    /// The keysets; GET them from the key agent, with this `If-None-Match`.
    Keys {
        /// The `ETag` of what is held.
        etag: Option<String>,
    },
}

/// What came of a [`Fetch`]. It may hold keys: no `Debug`.
pub enum Answer<'a> {
    /// HTTP 200 with a body.
    Body {
        /// The body.
        body: &'a [u8],
        /// Its `ETag`.
        etag: Option<String>,
    },
    /// HTTP 304.
    NotModified,
    /// Anything else; the text says what.
    Failed(String),
}

struct PlanEntry {
    plan: Rc<CompiledPlan>,
    fetched_ms: u64,
    used_ms: u64,
    tried_ms: u64,
}

struct KeysEntry {
    keyring: Rc<Keyring>,
    etag: Option<String>,
    fetched_ms: u64,
}

/// What analysis said of a text: the same for all who ask.
pub type Analysed = Rc<Result<Analysis, Refusal>>;

/// Counts since the last [`Worker::take_counts`], by statistic name.
pub type Counts = std::collections::BTreeMap<String, u64>;

/// One worker's shared state.
pub struct Worker {
    /// The filter's configuration.
    pub config: Config,
    plans: LruCache<PrincipalKey, PlanEntry>,
    keys: Option<KeysEntry>,
    keys_tried_ms: u64,
    analyses: LruCache<(u64, Rc<str>), Analysed>,
    counts: Counts,
    held: usize,
}

impl Worker {
    /// With nothing fetched yet.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            plans: LruCache::new(MAX_PLANS),
            keys: None,
            keys_tried_ms: 0,
            analyses: LruCache::new(MAX_ANALYSES),
            counts: Counts::new(),
            held: 0,
        }
    }

    /// The principal's plan, unless it is not there or too old.
    pub fn plan(&mut self, principal: &PrincipalKey, now_ms: u64) -> Option<Rc<CompiledPlan>> {
        let entry = self.plans.get_mut(principal)?;
        if now_ms.saturating_sub(entry.fetched_ms) > entry.plan.max_stale_ms {
            return None;
        }
        entry.used_ms = now_ms;
        Some(Rc::clone(&entry.plan))
    }

    /// The keyring, unless it is not there or too old.
    pub fn keyring(&self, now_ms: u64) -> Option<Rc<Keyring>> {
        let limit = self.config.keys.max_stale_seconds.saturating_mul(1000);
        let entry = self.keys.as_ref()?;
        (now_ms.saturating_sub(entry.fetched_ms) <= limit).then(|| Rc::clone(&entry.keyring))
    }

    /// What to fetch so that a keyring is there.
    pub fn fetch_keys(&self) -> Fetch {
        Fetch::Keys { etag: self.keys.as_ref().and_then(|k| k.etag.clone()) }
    }

    /// What is due for renewal now; called on every tick.
    pub fn due(&mut self, now_ms: u64) -> Vec<Fetch> {
        let mut due = Vec::new();
        let refresh_ms = self.config.keys.refresh_seconds.saturating_mul(1000);
        let keys_age = self.keys.as_ref().map(|k| now_ms.saturating_sub(k.fetched_ms));
        if keys_age.is_none_or(|age| age >= refresh_ms)
            && now_ms.saturating_sub(self.keys_tried_ms) >= RETRY_MS.min(refresh_ms)
        {
            self.keys_tried_ms = now_ms;
            due.push(self.fetch_keys());
        }
        for (principal, entry) in self.plans.iter_mut() {
            let used =
                now_ms.saturating_sub(entry.used_ms) < IDLE_PLAN_MS || Rc::strong_count(&entry.plan) > 1;
            let old = now_ms.saturating_sub(entry.fetched_ms) >= entry.plan.ttl_ms;
            if used && old && now_ms.saturating_sub(entry.tried_ms) >= RETRY_MS {
                entry.tried_ms = now_ms;
                due.push(Fetch::Plan(Rc::clone(principal)));
            }
        }
        due
    }

    /// Takes in what came of a fetch. The error says why it could not be used; what was held before is
    /// still held.
    pub fn answered(&mut self, fetch: &Fetch, answer: Answer<'_>, now_ms: u64) -> Result<(), String> {
        match (fetch, answer) {
            (Fetch::Plan(principal), Answer::Body { body, .. }) => self.take_plan(principal, body, now_ms),
            (Fetch::Plan(_), Answer::NotModified) => Err("OPA answered 304 to a POST".into()),
            (Fetch::Keys { .. }, Answer::Body { body, etag }) => {
                let keyring = Keyring::from_json(body).map_err(|e| e.to_string())?;
                self.keys = Some(KeysEntry { keyring: Rc::new(keyring), etag, fetched_ms: now_ms });
                Ok(())
            }
            (Fetch::Keys { .. }, Answer::NotModified) => match &mut self.keys {
                Some(entry) => {
                    entry.fetched_ms = now_ms;
                    Ok(())
                }
                None => Err("the key agent answered 304 though nothing is held".into()),
            },
            (_, Answer::Failed(reason)) => Err(reason),
        }
    }

    fn take_plan(&mut self, principal: &PrincipalKey, body: &[u8], now_ms: u64) -> Result<(), String> {
        let plan = Plan::from_json(body).map_err(|e| e.to_string())?;
        let held = self.plans.get_mut(principal).filter(|held| held.plan.revision == plan.revision);
        if let Some(entry) = held {
            entry.fetched_ms = now_ms;
            return Ok(());
        }
        let plan = CompiledPlan::new(plan).map_err(|e| e.to_string())?;
        let entry = PlanEntry { plan: Rc::new(plan), fetched_ms: now_ms, used_ms: now_ms, tried_ms: now_ms };
        self.plans.put(Rc::clone(principal), entry);
        Ok(())
    }

    /// The analysis of `text` against the catalog with this fingerprint, from the cache where it may be
    /// kept: analyses that hold literals to be sealed, or names that a session has given, are not.
    pub fn analysis(
        &mut self,
        text: &str,
        catalog: &Catalog,
        fingerprint: u64,
        names: &dyn Names,
    ) -> Analysed {
        let key = (fingerprint, Rc::from(text));
        if let Some(known) = self.analyses.get(&key) {
            let known = Rc::clone(known);
            self.count("statement_cache.hit", 1);
            return known;
        }
        self.count("statement_cache.miss", 1);
        let analysis = Rc::new(fieldveil_sql::analyze_in(text, catalog, names));
        let is_everyones = match analysis.as_ref() {
            Ok(analysis) => {
                let holds_values =
                    analysis.splices.iter().any(|s| matches!(s.with, Replacement::Seal { .. }));
                !holds_values && analysis.statements.iter().all(|s| s.session.is_none())
            }
            // Another session may have prepared what this one has not.
            Err(_) => false,
        };
        if text.len() <= MAX_CACHED_TEXT && is_everyones {
            self.analyses.put(key, Rc::clone(&analysis));
        }
        analysis
    }

    /// A connection holds `now` bytes of unfinished messages where it held `before`. Returns whether that is
    /// within what all may hold.
    pub fn holds(&mut self, before: usize, now: usize) -> bool {
        self.held = self.held.saturating_sub(before).saturating_add(now);
        now <= before || self.held <= MAX_HELD_BY_ALL
    }

    /// Counts an outcome under a statistic's name.
    pub fn count(&mut self, name: &str, by: u64) {
        if let Some(count) = self.counts.get_mut(name) {
            *count = count.saturating_add(by);
        } else {
            self.counts.insert(name.to_owned(), by);
        }
    }

    /// Hands over what was counted since the last time.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }
}
