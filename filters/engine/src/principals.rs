//! Those who ask over HTTP: a connection may carry the requests of many.
//!
//! Most requests come from somebody who has asked before. So what the policy is asked by for them is kept, with the key that
//! was made of it, and need not be written anew.

use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_plan::PlanInput;
use lru::LruCache;

use crate::fetch::PrincipalKey;

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
pub struct Principals(LruCache<u64, Rc<Principal>>);

impl Default for Principals {
    fn default() -> Self {
        Self(LruCache::new(MAX_KNOWN))
    }
}

impl Principals {
    /// The principal with this hash, if it is who asks: different principals can have one hash.
    pub fn known(&mut self, hash: u64, is_it: impl FnOnce(&PlanInput) -> bool) -> Option<Rc<Principal>> {
        self.0.get(&hash).filter(|known| is_it(&known.input)).cloned()
    }

    /// Remembers a principal, in place of one with the same hash.
    pub fn remember(&mut self, principal: &Rc<Principal>) {
        if principal.key.request().len() <= MAX_KNOWN_BYTES {
            self.0.put(principal.hash, Rc::clone(principal));
        }
    }
}
