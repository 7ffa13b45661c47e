//! The audits of those who ask over HTTP, by principal: a connection may carry the requests of many.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;

use lru::LruCache;

use crate::audit::Audit;
use crate::fetch::PrincipalKey;

/// Principals whose audits go on where they were. A further one takes the place of who asked longest ago, whose lines are
/// then written at once.
const MAX_PRINCIPALS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// The audits of a worker's principals.
pub struct Principals(LruCache<PrincipalKey, Rc<RefCell<Audit>>>);

impl Default for Principals {
    fn default() -> Self {
        Self(LruCache::new(MAX_PRINCIPALS))
    }
}

impl Principals {
    /// The principal's audit.
    pub fn of(&mut self, principal: &PrincipalKey) -> Option<Rc<RefCell<Audit>>> {
        self.0.get(principal).cloned()
    }

    /// Keeps it, and gives the one that gives way to it.
    pub fn keep(
        &mut self,
        principal: &PrincipalKey,
        audit: &Rc<RefCell<Audit>>,
    ) -> Option<Rc<RefCell<Audit>>> {
        self.0.push(principal.clone(), Rc::clone(audit)).map(|(_, gone)| gone)
    }
}
