//! The memory that a connection keeps, and whether there is room for more of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::memory::{Account, PlanWeights, Weight};
use crate::ports::Ports;
use crate::worker::Worker;

/// A connection that holds no more than this is not closed when memory is short.
const MAX_SMALL: usize = 64 << 10;

/// The memory that a connection keeps.
pub(crate) struct MemoryUse {
    worker: Rc<RefCell<Worker>>,
    ports: Rc<RefCell<dyn Ports>>,
    /// How many held bytes the worker was told of.
    held: usize,
    /// The account of what the connection keeps.
    account: Rc<Account>,
    plan_weights: RefCell<PlanWeights>,
}

impl MemoryUse {
    /// Makes that of a new connection from `source`, the client's address. The server says whose connection it is when it lets
    /// the client in.
    pub fn new(worker: &Rc<RefCell<Worker>>, ports: &Rc<RefCell<dyn Ports>>, source: &str) -> Self {
        let user = worker.borrow_mut().user(source);
        Self {
            worker: Rc::clone(worker),
            ports: Rc::clone(ports),
            held: 0,
            account: Rc::new(Account::new(user)),
            plan_weights: RefCell::default(),
        }
    }

    /// Enters the connection among those of this user.
    pub fn belongs_to(&self, user: &str) {
        self.account.belongs_to(self.worker.borrow_mut().user(&format!("user {user}")));
    }

    /// Tells the worker how many bytes of messages that are not whole the session holds, and how many its pending responses take.
    /// The error says why a connection that takes more than is left for all is closed.
    pub fn report(&mut self, held: usize, in_flight: usize) -> Result<(), &'static str> {
        // Where the memory in use is known, it decides.
        let same = held == self.held;
        let within = same || self.worker.borrow_mut().holds(self.held, held) || self.in_use() > 0;
        let grows = held > self.held && held > MAX_SMALL;
        self.held = held;
        self.account.waits_with(held.saturating_add(in_flight));
        if !within {
            return Err("the connections of this worker hold too many unfinished messages; one was closed");
        }
        if grows && self.has_room().is_err() {
            return Err("a connection keeps more than there is room for in this worker; it was closed");
        }
        Ok(())
    }

    /// Whether there is memory for one more statement that is executed and not kept.
    pub fn has_room(&self) -> Result<(), ClientError> {
        self.account.has_room(self.in_use())
    }

    /// Whether there is memory to keep what was weighed last.
    pub fn may_keep(&self) -> Result<(), ClientError> {
        self.account.may_keep(self.in_use())
    }

    /// Whether there is memory for one more portal.
    pub fn may_open(&self) -> Result<(), ClientError> {
        self.account.may_open()
    }

    /// Returns the bytes of memory that the module has in use.
    pub fn in_use(&self) -> usize {
        self.ports.borrow().memory_in_use()
    }

    /// Enters something that takes so many bytes into the account of what is kept.
    pub fn weight(&self, bytes: usize) -> Weight {
        Weight::new(&self.account, bytes)
    }

    /// Enters what was made since so many bytes were in use.
    pub fn weight_since(&self, before: usize) -> Weight {
        self.weight(self.in_use().saturating_sub(before))
    }

    /// Enters a plan that what is kept refers to. Each plan is entered once.
    pub fn plan_weight(&self, plan: &Arc<CompiledPlan>) -> Rc<Weight> {
        self.plan_weights.borrow_mut().of(plan, &self.account)
    }

    /// The account of what the connection keeps.
    pub fn account(&self) -> &Rc<Account> {
        &self.account
    }
}

impl Drop for MemoryUse {
    fn drop(&mut self) {
        self.worker.borrow_mut().holds(self.held, 0);
    }
}
