//! The account of memory: what each connection keeps, by its real size, and what all of one user keep together.
//!
//! Whatever a peer can make a connection keep carries its [`Weight`], which is given back when it is dropped. What waits for its
//! rest, or for answers, is told as one number at the end of each callback. Beside these sums stands what the module has in use
//! in all, which the host counts ([`crate::ports::Ports::memory_in_use`]). A user may keep no more than is still free: so
//! however much one has, there is room for another.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;

/// Bytes that one connection keeps at most.
pub const MAX_CONNECTION: usize = 128 << 20;
/// Bytes that a worker has in use at most when something more is kept. A Wasm module has 1 GiB in Envoy; the other half is for
/// what one callback takes, for statements that come and go, and for what the allocator loses.
pub const MAX_WORKER: usize = 512 << 20;
/// What is left free for statements that are executed and gone when nothing more may be kept.
pub const RESERVE: usize = 32 << 20;
/// Bytes in use past which no statement is analyzed, and no request is let in.
pub const MAX_IN_USE: usize = MAX_WORKER + 2 * RESERVE;

/// What the connections of one user keep.
#[derive(Default)]
pub(crate) struct User {
    kept: Cell<usize>,
    waiting: Cell<usize>,
}

/// The users of a worker's connections.
#[derive(Default)]
pub(crate) struct Users(HashMap<String, Weak<User>>);

impl Users {
    /// The account of a user, for as long as one of its connections is there.
    pub fn of(&mut self, name: &str) -> Rc<User> {
        if let Some(user) = self.0.get(name).and_then(Weak::upgrade) {
            return user;
        }
        self.0.retain(|_, user| user.strong_count() > 0);
        let user = Rc::default();
        self.0.insert(name.to_owned(), Rc::downgrade(&user));
        user
    }
}

/// What one connection keeps.
pub(crate) struct Account {
    kept: Cell<usize>,
    waiting: Cell<usize>,
    user: RefCell<Rc<User>>,
}

impl Account {
    /// Of a new connection.
    pub fn new(user: Rc<User>) -> Self {
        Self { kept: Cell::new(0), waiting: Cell::new(0), user: RefCell::new(user) }
    }

    /// The connection is another user's from now on.
    pub fn belongs_to(&self, user: Rc<User>) {
        let (kept, waiting) = (self.kept.get(), self.waiting.get());
        change(&user.kept, 0, kept);
        change(&user.waiting, 0, waiting);
        let before = self.user.replace(user);
        change(&before.kept, kept, 0);
        change(&before.waiting, waiting, 0);
    }

    /// So many bytes wait now, for their rest or for answers.
    pub fn waits_with(&self, bytes: usize) {
        let before = self.waiting.replace(bytes);
        if before != bytes {
            change(&self.user.borrow().waiting, before, bytes);
        }
    }

    /// Bytes that the connection keeps in all.
    pub fn bytes(&self) -> usize {
        self.kept.get().saturating_add(self.waiting.get())
    }

    /// Refuses unless one more statement may be looked at, to be executed and gone, while the module has so much in use.
    pub fn has_room(&self, in_use: usize) -> Result<(), ClientError> {
        let waiting = self.user.borrow().waiting.get();
        self.within(0)?;
        if in_use > MAX_IN_USE || waiting > free(in_use) { Err(worker_is_full()) } else { Ok(()) }
    }

    /// Refuses unless what was just weighed may be kept, while the module has so much in use.
    pub fn may_keep(&self, in_use: usize) -> Result<(), ClientError> {
        let user = self.user.borrow();
        let kept = user.kept.get().saturating_add(user.waiting.get());
        self.within(RESERVE)?;
        if kept.saturating_add(RESERVE) > free(in_use) { Err(worker_is_full()) } else { Ok(()) }
    }

    /// Refuses unless a portal may be opened on what is kept.
    pub fn may_open(&self) -> Result<(), ClientError> {
        self.within(RESERVE / 2)
    }

    fn within(&self, reserve: usize) -> Result<(), ClientError> {
        if self.bytes().saturating_add(reserve) <= MAX_CONNECTION {
            return Ok(());
        }
        Err(ClientError::out_of_memory(
            "the session keeps more than is kept of one",
            "Close prepared statements, portals and cursors that are no longer used, or prepare some in another session.",
        ))
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let user = self.user.borrow();
        change(&user.kept, self.kept.get(), 0);
        change(&user.waiting, self.waiting.get(), 0);
    }
}

/// What a worker may still take up; where it is not known what it has in use, everything.
fn free(in_use: usize) -> usize {
    if in_use == 0 { usize::MAX } else { MAX_WORKER.saturating_sub(in_use) }
}

fn worker_is_full() -> ClientError {
    ClientError::out_of_memory(
        "the sessions of this user keep more than the sidecar's worker has left",
        "Close sessions, or prepared statements that are no longer used, and send it again; or give Envoy more workers.",
    )
}

fn change(sum: &Cell<usize>, before: usize, now: usize) {
    sum.set(sum.get().saturating_sub(before).saturating_add(now));
}

/// What something weighs that a connection keeps. One that belongs to no account weighs nothing.
#[derive(Default)]
pub(crate) struct Weight {
    account: Option<Rc<Account>>,
    bytes: Cell<usize>,
}

impl Weight {
    /// So many bytes in this account.
    pub fn new(account: &Rc<Account>, bytes: usize) -> Self {
        let weight = Self { account: Some(Rc::clone(account)), bytes: Cell::new(0) };
        weight.set(bytes);
        weight
    }

    /// Another in the same account.
    pub fn beside(&self, bytes: usize) -> Self {
        self.account.as_ref().map_or_else(Self::default, |account| Self::new(account, bytes))
    }

    /// It weighs so much now.
    pub fn set(&self, bytes: usize) {
        if let Some(account) = &self.account {
            let before = self.bytes.replace(bytes);
            if before != bytes {
                change(&account.kept, before, bytes);
                change(&account.user.borrow().kept, before, bytes);
            }
        }
    }

    /// How much it weighs.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// What the plans weigh that statements of a connection were checked under: each once, while one of them is kept.
#[derive(Default)]
pub(crate) struct PlanWeights {
    last: Option<(std::sync::Weak<CompiledPlan>, Rc<Weight>)>,
    by_plan: HashMap<*const CompiledPlan, Weak<Weight>>,
}

impl PlanWeights {
    /// The weight of a plan, in this account.
    pub fn of(&mut self, plan: &Arc<CompiledPlan>, account: &Rc<Account>) -> Rc<Weight> {
        let at = Arc::as_ptr(plan);
        if let Some((last, weight)) = &self.last
            && std::ptr::eq(last.as_ptr(), at)
        {
            return Rc::clone(weight);
        }
        // Who bears it has the plan, so that no other is in its place.
        let known = self.by_plan.get(&at).and_then(Weak::upgrade);
        let weight = known.unwrap_or_else(|| {
            if self.by_plan.len() == self.by_plan.capacity() {
                self.by_plan.retain(|_, weight| weight.strong_count() > 0);
            }
            let weight = Rc::new(Weight::new(account, plan.bytes()));
            self.by_plan.insert(at, Rc::downgrade(&weight));
            weight
        });
        self.last = Some((Arc::downgrade(plan), Rc::clone(&weight)));
        weight
    }
}

/// Something with its weight.
pub(crate) struct Weighed<T> {
    /// What it is.
    pub value: T,
    /// What it weighs.
    pub _weight: Weight,
}

impl<T> Deref for Weighed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Bytes of so many elements.
pub(crate) fn size_of_all<T>(count: usize) -> usize {
    count.saturating_mul(size_of::<T>())
}
