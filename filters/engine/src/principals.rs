//! Those who ask over HTTP: a connection may carry the requests of many.
//!
//! Most requests come from somebody who has asked before. So what the policy is asked by for them is kept, with the key that
//! was made of it, and need not be written anew. Their audits go on where they were.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_plan::PlanInput;
use lru::LruCache;

use crate::audit::Audit;
use crate::fetch::PrincipalKey;

/// Principals whose audits go on where they were. A further one takes the place of who asked longest ago, whose lines are
/// then written at once.
const MAX_PRINCIPALS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Principals whose policy input is kept. A further one takes the place of who asked longest ago.
const MAX_KNOWN: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// Bytes of a question to the policy that is kept with its input, which takes a few times as much: about 4 MB for all.
const MAX_KNOWN_BYTES: usize = 4096;

/// Somebody who asks.
pub struct Principal {
    /// The hash of what says in a request who asks.
    pub hash: u64,
    /// What the policy is asked by.
    pub input: PlanInput,
    /// The key of the plan and of the audit.
    pub key: PrincipalKey,
}

impl Principal {
    /// Of this input.
    pub fn new(hash: u64, input: PlanInput) -> Rc<Self> {
        Rc::new(Self { hash, key: PrincipalKey::new(&input), input })
    }
}

/// What a worker knows of its principals.
pub struct Principals {
    audits: LruCache<PrincipalKey, Rc<RefCell<Audit>>>,
    known: LruCache<u64, Rc<Principal>>,
}

impl Default for Principals {
    fn default() -> Self {
        Self { audits: LruCache::new(MAX_PRINCIPALS), known: LruCache::new(MAX_KNOWN) }
    }
}

impl Principals {
    /// The principal's audit.
    pub fn of(&mut self, principal: &PrincipalKey) -> Option<Rc<RefCell<Audit>>> {
        self.audits.get(principal).cloned()
    }

    /// Keeps it, and gives the one that gives way to it.
    pub fn keep(
        &mut self,
        principal: &PrincipalKey,
        audit: &Rc<RefCell<Audit>>,
    ) -> Option<Rc<RefCell<Audit>>> {
        self.audits.push(principal.clone(), Rc::clone(audit)).map(|(_, gone)| gone)
    }

    /// The principal with this hash, if it is who asks: different principals can have one hash.
    pub fn known(&mut self, hash: u64, is_it: impl FnOnce(&PlanInput) -> bool) -> Option<Rc<Principal>> {
        self.known.get(&hash).filter(|known| is_it(&known.input)).cloned()
    }

    /// Remembers a principal, in place of one with the same hash.
    pub fn remember(&mut self, principal: &Rc<Principal>) {
        if principal.key.request().len() <= MAX_KNOWN_BYTES {
            self.known.put(principal.hash, Rc::clone(principal));
        }
    }
}
