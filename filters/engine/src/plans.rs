//! The plans that the workers of a process hold, by principal.
//!
//! The plan of a session's principal is held for as long as the session lasts. So no session loses the plan that it needs
//! during an outage of OPA because of what others ask for. This takes no more memory, because the session holds the plan
//! anyway. All other plans are spare: those of principals that have no session any more, and those of statements whose
//! comment names an end user. The number of spare plans is limited, and the session that asked for the most of them loses
//! some first.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use fieldveil_plan::Plan;
use lru::LruCache;

use crate::compiled_plan::CompiledPlan;
use crate::fetch::{PrincipalKey, RETRY_MS};
use crate::plan_counts::PlanCounts;
use crate::reports::Held;
use fieldveil_sql::sorted::sorted;

/// The most spare plans that are held. A plan of ten fields takes about 5 KB.
const MAX_SPARE: usize = 1024;
/// The most bytes that spare plans take.
const MAX_SPARE_BYTES: usize = 64 << 20;
/// The keysets that a spare plan names are asked for until so long after its last use.
const IDLE_MS: u64 = 10 * 60 * 1000;
/// A spare plan is renewed until so many of its ttls after its last use. If it is used later, it is asked for anew.
const RENEWED_TTLS: u64 = 2;
/// The most renewals that wait for OPA at once. While OPA does not answer there is only one, so that it is not flooded when
/// it returns.
const MAX_RENEWING: usize = 8;
/// A spare plan that could not be fetched again is used for so long before it is asked for again.
const SETTLED_MS: u64 = 5_000;
/// After so long Envoy has given up a renewal.
const LOST_MS: u64 = 60_000;

/// What the plans know of a session: who asks, and which plan is kept for it.
#[derive(Default)]
pub struct Holder {
    asks: Arc<()>,
    holds: Option<Arc<()>>,
}

struct HeldPlan {
    plan: Arc<CompiledPlan>,
    /// It is counted once here, and once by each session whose principal has the plan.
    holds: Arc<()>,
    /// The first session that asked for it. When that session has ended, it is the next one that asks.
    asked_by: Weak<()>,
    fetched_ms: u64,
    used_ms: u64,
    tried_ms: u64,
    renewing: bool,
}

impl HeldPlan {
    fn is_spare(&self) -> bool {
        Arc::strong_count(&self.holds) == 1
    }

    fn is_used(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.used_ms) < IDLE_MS || !self.is_spare()
    }

    fn is_renewed(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.used_ms) < self.lapse_ms() || !self.is_spare()
    }

    fn lapse_ms(&self) -> u64 {
        self.plan.ttl_ms.saturating_mul(RENEWED_TTLS)
    }

    fn is_renewing(&self, now_ms: u64) -> bool {
        self.renewing && now_ms.saturating_sub(self.tried_ms) < LOST_MS
    }

    fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.fetched_ms)
    }

    /// Says which session's share of the spare plans it belongs to. None stands for all sessions that have ended.
    fn share(&self) -> Option<*const ()> {
        (self.asked_by.strong_count() > 0).then_some(self.asked_by.as_ptr())
    }
}

/// The plans of all workers of a process.
pub struct Plans {
    /// The plans in the order of their last use.
    entries: LruCache<PrincipalKey, HeldPlan>,
    held: PlanCounts,
    /// True if OPA did not answer the last question.
    is_away: bool,
    /// The time when the last renewal was asked for.
    renewed_ms: u64,
}

impl Default for Plans {
    fn default() -> Self {
        Self { entries: LruCache::unbounded(), held: PlanCounts::default(), is_away: false, renewed_ms: 0 }
    }
}

impl Plans {
    /// Returns the plan of a session's principal, which is kept for the session from now on. See [`Self::get`].
    pub fn hold(
        &mut self,
        principal: &PrincipalKey,
        holder: &mut Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        let HeldPlan { plan, holds, .. } = self.usable(principal, holder, in_vain, now_ms)?;
        let plan = Arc::clone(plan);
        if holder.holds.as_ref().is_none_or(|held| !Arc::ptr_eq(held, holds)) {
            holder.holds = Some(Arc::clone(holds));
        }
        Some(plan)
    }

    /// Returns the principal's plan. Returns None if there is none, if it is too old or has expired, or if it must be asked
    /// for anew because it was not used for long. `in_vain` says that it was just asked for without success.
    pub fn get(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        self.usable(principal, holder, in_vain, now_ms).map(|entry| Arc::clone(&entry.plan))
    }

    fn usable(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<&HeldPlan> {
        let entry = self.entries.get_mut(principal)?;
        if entry.asked_by.strong_count() == 0 {
            entry.asked_by = Arc::downgrade(&holder.asks);
        }
        let age_ms = entry.age_ms(now_ms);
        if age_ms > entry.plan.max_stale_ms || entry.plan.has_expired(now_ms) {
            return None;
        }
        let lapsed = entry.is_spare() && age_ms > entry.lapse_ms();
        if lapsed && !in_vain && now_ms.saturating_sub(entry.tried_ms) >= SETTLED_MS {
            entry.tried_ms = now_ms;
            return None;
        }
        entry.used_ms = now_ms;
        Some(entry)
    }

    /// Takes over OPA's answer where it says the same as the plan that is held. Returns whether it does.
    pub fn confirm(&mut self, principal: &PrincipalKey, plan: &Plan, now_ms: u64) -> bool {
        let held = self.entries.get_mut(principal).filter(|held| held.plan.says(plan));
        let Some(entry) = held else { return false };
        entry.fetched_ms = now_ms;
        true
    }

    /// Takes over a plan that differs from the one before.
    pub fn put(&mut self, principal: &PrincipalKey, plan: Arc<CompiledPlan>, now_ms: u64) {
        self.held.add(&plan);
        if let Some(entry) = self.entries.get_mut(principal) {
            self.held.remove(&entry.plan);
            entry.plan = plan;
            (entry.fetched_ms, entry.used_ms, entry.tried_ms) = (now_ms, now_ms, now_ms);
            return;
        }
        let entry = HeldPlan {
            plan,
            holds: Arc::default(),
            asked_by: Weak::new(),
            fetched_ms: now_ms,
            used_ms: now_ms,
            tried_ms: now_ms,
            renewing: false,
        };
        self.entries.push(principal.clone(), entry);
        self.make_room();
    }

    /// Notes that a question for a principal's plan has ended. `is_away` says that OPA did not answer it.
    pub fn answered(&mut self, principal: &PrincipalKey, is_away: bool) {
        self.is_away = is_away;
        if let Some(entry) = self.entries.peek_mut(principal) {
            entry.renewing = false;
        }
    }

    /// Drops spare plans while there are too many. Among the sessions with more than a fair share, it drops the plan that
    /// was used longest ago.
    fn make_room(&mut self) {
        let spare = self.entries.iter().filter(|(_, entry)| entry.is_spare());
        let bytes = spare.fold(0_usize, |sum, (_, entry)| sum.saturating_add(entry.plan.bytes()));
        if self.entries.len() <= MAX_SPARE && bytes <= MAX_SPARE_BYTES {
            return;
        }
        let mut shares: BTreeMap<Option<*const ()>, usize> = BTreeMap::new();
        for (_, entry) in self.entries.iter().filter(|(_, entry)| entry.is_spare()) {
            let share = shares.entry(entry.share()).or_default();
            *share = share.saturating_add(1);
        }
        let spare = shares.values().fold(0_usize, |sum, share| sum.saturating_add(*share));
        // The limit in bytes is turned into a number of plans of the average size.
        let of_one = bytes.checked_div(spare).unwrap_or_default().max(1);
        let most = MAX_SPARE_BYTES.checked_div(of_one).unwrap_or_default().min(MAX_SPARE);
        let fair = fair_share(shares.values().copied().collect(), most);
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
            above.take(spare.saturating_sub(most)).map(|(principal, _)| principal.clone()).collect();
        self.remove(&gone);
    }

    fn remove(&mut self, gone: &[PrincipalKey]) {
        for entry in gone.iter().filter_map(|principal| self.entries.pop(principal)).collect::<Vec<_>>() {
            self.held.remove(&entry.plan);
        }
    }

    /// Forgets the plans that nobody needs any more.
    pub fn tidy(&mut self, now_ms: u64) {
        let gone = self
            .entries
            .iter()
            .filter(|(_, entry)| !entry.is_renewed(now_ms) && entry.age_ms(now_ms) > entry.plan.max_stale_ms);
        let gone: Vec<_> = gone.map(|(principal, _)| principal.clone()).collect();
        self.remove(&gone);
        // The plans of sessions that have ended are spare now.
        self.make_room();
    }

    /// Returns the principals whose plans are to be renewed now: those of sessions first, then those that were tried
    /// longest ago.
    pub fn due(&mut self, now_ms: u64) -> Vec<PrincipalKey> {
        let at_once = if self.is_away { 1 } else { MAX_RENEWING };
        let renewing = self.entries.iter().filter(|(_, entry)| entry.is_renewing(now_ms)).count();
        let waits = self.is_away && now_ms.saturating_sub(self.renewed_ms) < RETRY_MS;
        if waits || renewing > at_once / 2 {
            return Vec::new();
        }
        let due = self.entries.iter_mut().filter(|(_, entry)| {
            let old = entry.age_ms(now_ms) >= entry.plan.ttl_ms;
            let again = now_ms.saturating_sub(entry.tried_ms) >= RETRY_MS;
            entry.is_renewed(now_ms) && old && again && !entry.is_renewing(now_ms)
        });
        let mut due: Vec<_> = due.collect();
        due.sort_by_key(|(_, entry)| (entry.is_spare(), entry.tried_ms));
        due.truncate(at_once.saturating_sub(renewing));
        let mut asked = Vec::new();
        for (principal, entry) in due {
            (entry.tried_ms, entry.renewing, self.renewed_ms) = (now_ms, true, now_ms);
            asked.push(principal.clone());
        }
        asked
    }

    /// Returns the age of the plan in use that was confirmed longest ago.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        let used = self.entries.iter().filter(|(_, entry)| entry.is_renewed(now_ms));
        used.map(|(_, entry)| entry.age_ms(now_ms)).max().unwrap_or_default()
    }

    /// Returns the plans in use: those of sessions' principals first, then the spare ones, each in the order of their last
    /// use.
    pub fn used(&self, now_ms: u64) -> impl Iterator<Item = &CompiledPlan> {
        let used =
            move |spare| self.entries.iter().filter(move |(_, e)| e.is_used(now_ms) && e.is_spare() == spare);
        used(false).chain(used(true)).map(|(_, entry)| entry.plan.as_ref())
    }

    /// Returns how many plans are held of each bundle.
    pub fn held(&self) -> &Held {
        self.held.all()
    }
}

/// Returns how many plans each session may keep, so that all together are within the limit and no session loses plans to
/// one that has more.
fn fair_share(shares: Vec<usize>, most: usize) -> usize {
    let shares = sorted(shares);
    let mut left = most;
    for (before, share) in shares.iter().enumerate() {
        let fair = left.checked_div(shares.len().saturating_sub(before)).unwrap_or_default();
        if *share > fair {
            return fair;
        }
        left = left.saturating_sub(*share);
    }
    most
}
