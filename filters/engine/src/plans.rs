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

use crate::compiled_plan::CompiledPlan;
use crate::fetch::{PrincipalKey, RETRY_MS};
use crate::plan_counts::PlanCounts;
use crate::reports::Held;
use crate::routes::MakeReady;

/// Spare plans held at most. A plan of ten fields takes about 5 KB.
const MAX_SPARE: usize = 1024;
/// Bytes that spare plans take at most.
const MAX_SPARE_BYTES: usize = 64 << 20;
/// For so long after a spare plan's last use, the keysets that it names are still asked for.
const IDLE_MS: u64 = 10 * 60 * 1000;
/// A spare plan is renewed while its last use is fewer ttls ago, and asked for anew when it is used after that.
const RENEWED_TTLS: u64 = 2;
/// Renewals that wait for OPA at once; one while it does not answer, so that it is not buried under what has piled up.
const MAX_RENEWING: usize = 8;
/// A spare plan that could not be had anew is used for so long before it is asked for again.
const SETTLED_MS: u64 = 5_000;
/// Envoy has given up a renewal by then.
const LOST_MS: u64 = 60_000;

/// A session, to the plans: who asks, and which plan is kept for it.
#[derive(Default)]
pub struct Holder {
    asks: Rc<()>,
    holds: Option<Rc<()>>,
}

struct HeldPlan {
    plan: Rc<CompiledPlan>,
    /// This one, and one more for each session whose principal's it is.
    holds: Rc<()>,
    /// The first session that asked for it, or the next one once that had ended.
    asked_by: Weak<()>,
    fetched_ms: u64,
    used_ms: u64,
    tried_ms: u64,
    renewing: bool,
}

impl HeldPlan {
    fn is_spare(&self) -> bool {
        Rc::strong_count(&self.holds) == 1
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

    /// Whose share of the spare plans it is: a session's, or that of all sessions which have ended.
    fn share(&self) -> Option<*const ()> {
        (self.asked_by.strong_count() > 0).then_some(self.asked_by.as_ptr())
    }
}

/// The plans of one worker.
pub struct Plans {
    /// In the order of their last use.
    entries: LruCache<PrincipalKey, HeldPlan>,
    held: PlanCounts,
    ready: MakeReady,
    /// OPA did not answer the last question.
    is_away: bool,
    /// When the last renewal was asked for.
    renewed_ms: u64,
}

impl Plans {
    /// None yet; what they say of a service is made `ready` so.
    pub fn new(ready: MakeReady) -> Self {
        Self {
            entries: LruCache::unbounded(),
            held: PlanCounts::default(),
            ready,
            is_away: false,
            renewed_ms: 0,
        }
    }

    /// The plan of a session's principal, to be kept for it from now on: see [`Self::get`].
    pub fn hold(
        &mut self,
        principal: &PrincipalKey,
        holder: &mut Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Rc<CompiledPlan>> {
        let HeldPlan { plan, holds, .. } = self.usable(principal, holder, in_vain, now_ms)?;
        let plan = Rc::clone(plan);
        if holder.holds.as_ref().is_none_or(|held| !Rc::ptr_eq(held, holds)) {
            holder.holds = Some(Rc::clone(holds));
        }
        Some(plan)
    }

    /// The principal's plan; none if it is not there, too old, past the moment until which it holds, or to be asked for
    /// anew because nobody did for long. `in_vain`: that was just tried.
    pub fn get(
        &mut self,
        principal: &PrincipalKey,
        holder: &Holder,
        in_vain: bool,
        now_ms: u64,
    ) -> Option<Rc<CompiledPlan>> {
        self.usable(principal, holder, in_vain, now_ms).map(|entry| Rc::clone(&entry.plan))
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
            entry.asked_by = Rc::downgrade(&holder.asks);
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

    /// Takes in OPA's answer. Returns the plan if it is another than before.
    pub fn take(
        &mut self,
        principal: &PrincipalKey,
        body: &[u8],
        now_ms: u64,
    ) -> Result<Option<Rc<CompiledPlan>>, String> {
        self.answered(principal, false);
        let plan = Plan::from_json(body).map_err(|e| e.to_string())?;
        let held = self.entries.get_mut(principal);
        if let Some(entry) = held.filter(|held| held.plan.says(&plan)) {
            entry.fetched_ms = now_ms;
            return Ok(None);
        }
        let plan = CompiledPlan::with(plan, &mut self.ready).map_err(|e| e.to_string())?;
        if plan.has_expired(now_ms) {
            return Err(
                "the plan has expired already; see that OPA and the sidecar have the same time".into()
            );
        }
        let plan = Rc::new(plan);
        self.held.add(&plan);
        if let Some(entry) = self.entries.get_mut(principal) {
            self.held.remove(&entry.plan);
            entry.plan = Rc::clone(&plan);
            (entry.fetched_ms, entry.used_ms, entry.tried_ms) = (now_ms, now_ms, now_ms);
            return Ok(Some(plan));
        }
        let entry = HeldPlan {
            plan: Rc::clone(&plan),
            holds: Rc::default(),
            asked_by: Weak::new(),
            fetched_ms: now_ms,
            used_ms: now_ms,
            tried_ms: now_ms,
            renewing: false,
        };
        self.entries.push(principal.clone(), entry);
        self.make_room();
        Ok(Some(plan))
    }

    /// A question for a principal's plan has ended; `is_away`: OPA did not answer it.
    pub fn answered(&mut self, principal: &PrincipalKey, is_away: bool) {
        self.is_away = is_away;
        if let Some(entry) = self.entries.peek_mut(principal) {
            entry.renewing = false;
        }
    }

    /// Lets spare plans go while there are too many: the one used longest ago of those whose share is more than fair.
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
        // As many of their size as are within the bytes.
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

    /// Forgets what nobody needs any more.
    pub fn tidy(&mut self, now_ms: u64) {
        let gone = self
            .entries
            .iter()
            .filter(|(_, entry)| !entry.is_renewed(now_ms) && entry.age_ms(now_ms) > entry.plan.max_stale_ms);
        let gone: Vec<_> = gone.map(|(principal, _)| principal.clone()).collect();
        self.remove(&gone);
        // Sessions may have ended, whose plans are spare now.
        self.make_room();
    }

    /// The principals whose plans are to be renewed now: first those of sessions, then those that were tried longest ago.
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

    /// The age of the plan in use that was confirmed longest ago.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        let used = self.entries.iter().filter(|(_, entry)| entry.is_renewed(now_ms));
        used.map(|(_, entry)| entry.age_ms(now_ms)).max().unwrap_or_default()
    }

    /// The plans in use: first those of sessions' principals, then the spare ones, each in the order of their last use.
    pub fn used(&self, now_ms: u64) -> impl Iterator<Item = &CompiledPlan> {
        let used =
            move |spare| self.entries.iter().filter(move |(_, e)| e.is_used(now_ms) && e.is_spare() == spare);
        used(false).chain(used(true)).map(|(_, entry)| entry.plan.as_ref())
    }

    /// How many there are, by their bundle.
    pub fn held(&self) -> &Held {
        self.held.all()
    }
}

/// How many plans of each share may stay so that all together are within the limit and no share gives way to a greater
/// one.
fn fair_share(mut shares: Vec<usize>, most: usize) -> usize {
    shares.sort_unstable();
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
