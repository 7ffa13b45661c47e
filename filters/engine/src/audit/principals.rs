//! The audits of those who ask over HTTP: one for each principal, for all workers, because a connection may carry the requests of
//! many, and many connections those of one.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use lru::LruCache;

use super::Audit;
use crate::fetch::PrincipalKey;
use crate::locks::lock;

/// Principals whose audits continue where they were. A further one takes the place of who asked longest ago, whose lines are then
/// written at once.
const MAX_PRINCIPALS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// An audit that all workers write to.
pub type SharedAudit = Arc<Mutex<Audit>>;

/// The audits of principals. No method has the lock of an audit and one of these at once; the counts of values are locked within an
/// audit, and lock nothing.
pub struct PrincipalAudits {
    known: Mutex<LruCache<PrincipalKey, SharedAudit>>,
    /// Those in which something happened since their last lines. They may be gone from everywhere else before their interval is over.
    open: Mutex<Vec<SharedAudit>>,
}

impl Default for PrincipalAudits {
    fn default() -> Self {
        Self { known: Mutex::new(LruCache::new(MAX_PRINCIPALS)), open: Mutex::default() }
    }
}

impl PrincipalAudits {
    /// The audit of a principal, made if there is none. Where it takes the place of another one, the lines of that are given too.
    pub fn of(&self, principal: &PrincipalKey, make: impl FnOnce() -> Audit) -> (SharedAudit, Vec<String>) {
        let mut known = lock(&self.known);
        if let Some(audit) = known.get(principal) {
            return (Arc::clone(audit), Vec::new());
        }
        let audit = Arc::new(Mutex::new(make()));
        let gone = known.push(principal.clone(), Arc::clone(&audit));
        drop(known);
        (audit, gone.map(|(_, gone)| close(&gone)).unwrap_or_default())
    }

    /// Does something with an audit.
    pub fn record<T>(&self, audit: &SharedAudit, what: impl FnOnce(&mut Audit) -> T) -> T {
        let mut locked = lock(audit);
        let was_idle = locked.is_idle();
        let done = what(&mut locked);
        let has_begun = was_idle && !locked.is_idle();
        drop(locked);
        if has_begun {
            lock(&self.open).push(Arc::clone(audit));
        }
        done
    }

    /// Enters the values that are only counted so far.
    pub fn settle(&self) {
        let open = lock(&self.open).clone();
        open.iter().for_each(|audit| lock(audit).settle());
    }

    /// The lines of those whose interval is over.
    pub fn lines(&self, now_ms: u64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = std::mem::take(&mut *lock(&self.open));
        open.retain(|audit| {
            let mut audit = lock(audit);
            audit.tick(now_ms);
            lines.append(&mut audit.take_lines());
            // Whoever records in an idle one puts it back, and can not do so before this lets go of it.
            !audit.is_idle()
        });
        lock(&self.open).append(&mut open);
        lines
    }

    /// The lines of all, because nobody asks any more.
    pub fn last_lines(&self) -> Vec<String> {
        let open = std::mem::take(&mut *lock(&self.open));
        open.iter().flat_map(close).collect()
    }
}

/// The lines of all that has happened in an audit.
fn close(audit: &SharedAudit) -> Vec<String> {
    let mut audit = lock(audit);
    audit.close();
    audit.take_lines()
}
