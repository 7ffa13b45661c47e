//! The plans that a worker holds, by principal.
//!
//! The plan of a session's principal stays for as long as the session does: what others ask for costs nobody the plan
//! that carries the session over an outage of OPA. It takes no memory of its own, for the session holds it anyway. All
//! other plans are spare: of principals who went, and of statements whose comment says who they are for. Their number is
//! bounded, and room is made where one session has asked for the most of them.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use fieldveil_plan::Plan;
use lru::LruCache;

use crate::fetch::{PrincipalKey, RETRY_MS};
use crate::field::CompiledPlan;
use crate::held_plans::HeldPlans;

/// Spare plans held at most. A plan of ten fields takes about 5 KB.
const MAX_SPARE: usize = 1024;
/// A plan that nobody asked for in this time is not renewed.
const IDLE_MS: u64 = 10 * 60 * 1000;
/// Plans that are renewed in one tick, those first that were tried longest ago: Envoy lets 1,024 questions to OPA be open.
const MAX_RENEWALS: usize = 256;

/// A session, to the plans: who asks, and which plan is kept for it.
#[derive(Default)]
pub struct Holder {
    asks: Rc<()>,
    holds: Option<Rc<()>>,
}

struct Entry {
    plan: Rc<CompiledPlan>,
    /// This one, and one more for each session whose principal's it is.
    holds: Rc<()>,
    /// The first session that asked for it, or the next one once that had ended.
    asked_by: Weak<()>,
    fetched_ms: u64,
    used_ms: u64,
    tried_ms: u64,
}

impl Entry {
    fn is_spare(&self) -> bool {
        Rc::strong_count(&self.holds) == 1
    }

    fn is_used(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.used_ms) < IDLE_MS || !self.is_spare()
    }

    fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.fetched_ms)
    }

    /// Whose share of the spare plans it is: a session's, or that of all sessions which have ended.
    fn share(&self) -> Option<*const ()> {
        (self.asked_by.strong_count() > 0).then_some(self.asked_by.as_ptr())
    }
}

/// The plans of one worker.
pub struct Plans {
    /// In the order of their last use.
    entries: LruCache<PrincipalKey, Entry>,
    gauges: HeldPlans,
}

impl Default for Plans {
    fn default() -> Self {
        Self { entries: LruCache::unbounded(), gauges: HeldPlans::default() }
    }
}

impl Plans {
    /// The plan of a session's principal, to be kept for it from now on; none if it is not there, too old, or past the
    /// moment until which it holds.
    pub fn hold(
        &mut self,
        principal: &PrincipalKey,
        holder: &mut Holder,
        now_ms: u64,
    ) -> Option<Rc<CompiledPlan>> {
        let entry = self.entries.get_mut(principal)?;
        holder.holds = Some(Rc::clone(&entry.holds));
        self.get(principal, holder, now_ms)
    }

    /// The same of the principal of a single statement; it is not kept.
    pub fn get(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        now_ms: u64,
    ) -> Option<Rc<CompiledPlan>> {
        let entry = self.entries.get_mut(principal)?;
        if entry.asked_by.strong_count() == 0 {
            entry.asked_by = Rc::downgrade(&holder.asks);
        }
        if entry.age_ms(now_ms) > entry.plan.max_stale_ms || entry.plan.has_expired(now_ms) {
            return None;
        }
        entry.used_ms = now_ms;
        Some(Rc::clone(&entry.plan))
    }

    /// Takes in OPA's answer. Returns the plan if it is another than before.
    pub fn take(
        &mut self,
        principal: &PrincipalKey,
        body: &[u8],
        now_ms: u64,
    ) -> Result<Option<Rc<CompiledPlan>>, String> {
        let plan = Plan::from_json(body).map_err(|e| e.to_string())?;
        let held = self.entries.get_mut(principal);
        if let Some(entry) = held.filter(|held| held.plan.says(&plan)) {
            entry.fetched_ms = now_ms;
            return Ok(None);
        }
        let plan = CompiledPlan::new(plan).map_err(|e| e.to_string())?;
        if plan.has_expired(now_ms) {
            return Err(
                "the plan has expired already; see that OPA and the sidecar have the same time".into()
            );
        }
        let plan = Rc::new(plan);
        self.gauges.add(&plan);
        if let Some(entry) = self.entries.get_mut(principal) {
            self.gauges.remove(&entry.plan);
            entry.plan = Rc::clone(&plan);
            (entry.fetched_ms, entry.used_ms, entry.tried_ms) = (now_ms, now_ms, now_ms);
            return Ok(Some(plan));
        }
        let entry = Entry {
            plan: Rc::clone(&plan),
            holds: Rc::default(),
            asked_by: Weak::new(),
            fetched_ms: now_ms,
            used_ms: now_ms,
            tried_ms: now_ms,
        };
        self.entries.push(principal.clone(), entry);
        self.make_room();
        Ok(Some(plan))
    }

    /// Lets spare plans go while there are too many: the one used longest ago of those whose share is more than fair.
    fn make_room(&mut self) {
        if self.entries.len() <= MAX_SPARE {
            return;
        }
        let mut shares: BTreeMap<Option<*const ()>, usize> = BTreeMap::new();
        for (_, entry) in self.entries.iter().filter(|(_, entry)| entry.is_spare()) {
            let share = shares.entry(entry.share()).or_default();
            *share = share.saturating_add(1);
        }
        let spare = shares.values().fold(0_usize, |sum, share| sum.saturating_add(*share));
        let fair = fair_share(shares.values().copied().collect());
        let oldest_first = self.entries.iter().rev().filter(|(_, entry)| entry.is_spare());
        let above = oldest_first.filter(|(_, entry)| {
            let share = shares.get_mut(&entry.share());
            share.is_some_and(|share| {
                let above = *share > fair;
                *share = share.saturating_sub(usize::from(above));
                above
            })
        });
        let gone: Vec<_> =
            above.take(spare.saturating_sub(MAX_SPARE)).map(|(principal, _)| principal.clone()).collect();
        self.remove(&gone);
    }

    fn remove(&mut self, gone: &[PrincipalKey]) {
        for entry in gone.iter().filter_map(|principal| self.entries.pop(principal)).collect::<Vec<_>>() {
            self.gauges.remove(&entry.plan);
        }
    }

    /// Forgets what nobody needs any more, and gives the principals whose plans are due for renewal.
    pub fn due(&mut self, now_ms: u64) -> Vec<PrincipalKey> {
        let gone = self
            .entries
            .iter()
            .filter(|(_, entry)| !entry.is_used(now_ms) && entry.age_ms(now_ms) > entry.plan.max_stale_ms);
        let gone: Vec<_> = gone.map(|(principal, _)| principal.clone()).collect();
        self.remove(&gone);
        // Sessions may have ended, whose plans are spare now.
        self.make_room();
        let due = self.entries.iter_mut().filter(|(_, entry)| {
            let old = entry.age_ms(now_ms) >= entry.plan.ttl_ms;
            entry.is_used(now_ms) && old && now_ms.saturating_sub(entry.tried_ms) >= RETRY_MS
        });
        let mut due: Vec<_> = due.collect();
        due.sort_by_key(|(_, entry)| entry.tried_ms);
        due.truncate(MAX_RENEWALS);
        let tried = due.into_iter().map(|(principal, entry)| {
            entry.tried_ms = now_ms;
            principal.clone()
        });
        tried.collect()
    }

    /// The age of the plan in use that was confirmed longest ago.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        let used = self.entries.iter().filter(|(_, entry)| entry.is_used(now_ms));
        used.map(|(_, entry)| entry.age_ms(now_ms)).max().unwrap_or_default()
    }

    /// The plans in use: first those of sessions' principals, then the spare ones, each in the order of their last use.
    pub fn used(&self, now_ms: u64) -> impl Iterator<Item = &CompiledPlan> {
        let used =
            move |spare| self.entries.iter().filter(move |(_, e)| e.is_used(now_ms) && e.is_spare() == spare);
        used(false).chain(used(true)).map(|(_, entry)| entry.plan.as_ref())
    }

    /// Hands over by how much the gauges have changed since the last time.
    pub fn take_gauges(&mut self) -> Vec<(String, i64)> {
        self.gauges.take()
    }
}

/// How many plans of each share may stay so that all together are within the limit and no share gives way to a greater
/// one.
fn fair_share(mut shares: Vec<usize>) -> usize {
    shares.sort_unstable();
    let mut left = MAX_SPARE;
    for (before, share) in shares.iter().enumerate() {
        let fair = left.checked_div(shares.len().saturating_sub(before)).unwrap_or_default();
        if *share > fair {
            return fair;
        }
        left = left.saturating_sub(*share);
    }
    MAX_SPARE
}
