//! The parts of a connection to a database that do not depend on its protocol: plan, keys, values and audit. The modules
//! beside this one are of one protocol each; they own a [`Core`] and do the rest.
//!
//! | what | file |
//! | --- | --- |
//! | bytes arrive, and responses to what was fetched | `connection.rs` |
//! | the bytes of a message that is not whole are held | `inbox.rs` |
//! | bytes that pass unchanged are counted | `unchanged.rs` |
//! | the principal, plan and keys | `policy.rs` |
//! | the server's catalog | `catalog.rs` |
//! | a text is checked against plan and catalog | `check.rs` |
//! | the result of that check | `checked.rs` |
//! | values are sealed | `seal.rs` |
//! | a row is treated | `treat.rs` |
//! | the server says who the session is for | `identity.rs` |
//! | the server gets words in the place of tokens | `token_words.rs` |
//! | a budget is spent | `budgeted.rs` |
//! | what happens is counted | `audited.rs` |

mod audited;
mod budgeted;
mod catalog;
mod check;
mod checked;
mod connection;
mod identity;
mod inbox;
mod policy;
mod seal;
mod token_words;
mod treat;
mod unchanged;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use fieldveil_plan::PlanInput;

pub(crate) use self::catalog::{
    CatalogReading, CatalogState, ColumnRow, MAX_AGE_MS, ServerCatalog, words_of_view,
};
pub(crate) use self::checked::Checked;
pub(crate) use self::connection::WireProtocol;
pub use self::connection::{Connection, Duplex};
pub(crate) use self::identity::{Replaced, SessionIdentity};
pub(crate) use self::policy::{PlanChange, Renewed, Unready};
pub(crate) use self::seal::{Place, misplaced, purpose};
pub(crate) use self::token_words::{Given, Lasts, MAX_PURPOSE, MAX_TOKEN, TokenWords, holds_word};
pub(crate) use self::treat::{Buffers, ClientForm, Costs, RowError, RowTreatment, Tally, Treated, restart};
use crate::audit::{Audit, Ended};
use crate::client_error::ClientError;
use crate::fetch::{Fetch, PrincipalKey};
use crate::field::CompiledPlan;
use crate::keyring::Keyring;
use crate::memory::{Account, PlanWeights, Weight};
use crate::plans::Holder;
use crate::ports::{Level, Ports, random_name};
use crate::printed::{PrintBudget, PrintedTooMuch};
use crate::worker::Worker;

/// A message of at most so many bytes is held until it can be read whole. A longer one passes if nothing in it is protected,
/// and is refused if something may be.
pub const MAX_HELD: usize = 16 << 20;
/// A connection that holds no more than this is not closed when memory is short.
const MAX_SMALL: usize = 64 << 10;

/// The output of one callback. It holds opened values: no `Debug`.
#[derive(Default)]
pub struct CallbackOutput {
    /// So many of the bytes that came pass unchanged, and nothing else was written for the side that they go to. If it is 0, the
    /// bytes for that side are below.
    pub unchanged: usize,
    /// Bytes for the server. In a callback with the server's bytes they are what must be sent ahead of the client's next bytes.
    pub to_server: Vec<u8>,
    /// Bytes for the client.
    pub to_client: Vec<u8>,
    /// What the host must fetch, whose responses it gives to the session's `answered`.
    pub fetch: Vec<Fetch>,
    /// Whether the session waited for the server and no longer does, so that the host must give it the client's bytes again.
    pub resume: bool,
    /// Whether the host must close the connection on both sides.
    pub close: bool,
}

impl CallbackOutput {
    /// Empties it and overwrites what it held, but keeps its memory.
    pub fn clear(&mut self) {
        for bytes in [&mut self.to_server, &mut self.to_client] {
            bytes.fill(0);
            // The compiler must not leave this out where the memory is freed right afterwards.
            std::hint::black_box(&mut *bytes);
            bytes.clear();
        }
        self.fetch.clear();
        (self.unchanged, self.resume, self.close) = (0, false, false);
    }

    /// Counts the bytes of memory that it has.
    pub fn memory(&self) -> usize {
        self.to_server.capacity().saturating_add(self.to_client.capacity())
    }
}

/// The result of reading the next message of either side. A number of bytes may exceed those that have arrived.
pub(crate) enum Step {
    /// So many of the bytes that have arrived were read, and what goes on in their place was written.
    Took(usize),
    /// The same; what follows them is not read as a message.
    TookHead(usize, Unread),
    /// So many bytes pass unchanged, behind what was written.
    Pass(usize),
    /// So many bytes are dropped.
    Drop(usize),
    /// More bytes are needed, or the session waits.
    More,
}

/// The rest of a message of which only the head was read.
pub(crate) enum Unread {
    /// So many bytes pass unchanged.
    Pass(usize),
    /// So many bytes are read piece by piece, as they arrive.
    Pieces(usize),
}

/// Why the client's bytes are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    No,
    /// They wait for this many fetches.
    Fetches(usize),
    /// They wait for the server's response to a query of the filter's: for the session's identity, or the catalog.
    Server,
    /// They wait for pending responses.
    Answers,
}

/// The parts of one connection that do not depend on its protocol: whom it is for, its plan and keys, and its audit.
pub(crate) struct Core {
    pub worker: Rc<RefCell<Worker>>,
    pub ports: Rc<RefCell<dyn Ports>>,
    /// The client's address.
    source: String,
    pub now_ms: u64,
    pub waiting: Waiting,
    /// Who asks.
    pub input: PlanInput,
    pub principal: Option<PrincipalKey>,
    /// The principal whose plan and keys this callback has taken up. They do not change within a callback, nor does the clock.
    settled: Option<PrincipalKey>,
    /// Keeps the principal's plan with the worker.
    holder: Holder,
    pub plan: Option<Rc<CompiledPlan>>,
    /// The keys that the last statement was checked with. Only the worker keeps them alive, so that keys which the agent no longer
    /// has are gone here too, even if the session is silent.
    keyring: Weak<Keyring>,
    /// Whether the keysets of a new plan's tenants were asked for. They are asked for once.
    asked_for_tenants: bool,
    pub catalog: CatalogState,
    pub identity: SessionIdentity,
    /// Why the last fetch of the plan and that of the keys failed.
    fetch_failures: BTreeMap<&'static str, String>,
    /// How many held bytes the worker was told of.
    held: usize,
    /// The account of the memory that the connection keeps.
    account: Rc<Account>,
    plan_weights: RefCell<PlanWeights>,
    audit: Rc<RefCell<Audit>>,
    /// The worker's buffers, while this callback treats values.
    buffers: Option<Box<Buffers>>,
    /// How many bytes of values this callback may still write.
    prints: PrintBudget,
    ended: Option<Ended>,
}

impl Core {
    /// Makes the core of a new connection from `source`, the client's address.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        let audit = worker.borrow().audit(random_name(&*ports));
        // The server says whose connection it is when it lets the client in.
        let user = worker.borrow_mut().user(&source);
        Self {
            worker,
            ports,
            source,
            now_ms: 0,
            waiting: Waiting::No,
            input: PlanInput::default(),
            principal: None,
            settled: None,
            holder: Holder::default(),
            plan: None,
            keyring: Weak::new(),
            asked_for_tenants: false,
            catalog: CatalogState::default(),
            identity: SessionIdentity::default(),
            fetch_failures: BTreeMap::new(),
            held: 0,
            account: Rc::new(Account::new(user)),
            plan_weights: RefCell::default(),
            audit: Rc::new(RefCell::new(audit)),
            buffers: None,
            prints: PrintBudget::default(),
            ended: None,
        }
    }

    /// Begins a callback.
    pub fn begin_callback(&mut self) {
        self.now_ms = self.ports.borrow().now_ms();
        self.settled = None;
    }

    /// Begins a callback with the server's bytes. The time matters only where something is protected or was asked for.
    pub fn begin_answer(&mut self) {
        if self.protects() || self.is_waiting() {
            self.begin_callback();
        }
    }

    /// Notes how many bytes this callback reads, which limits how many bytes of values it may write.
    pub fn begin_prints(&mut self, bytes: usize) {
        self.prints = PrintBudget::of(bytes);
    }

    /// Counts bytes of a value that were written.
    pub fn print(&mut self, bytes: usize) -> Result<(), ClientError> {
        self.prints.take(bytes).map_err(|PrintedTooMuch(limit)| ClientError::printed_too_much(limit))
    }

    /// Whether the client's bytes are to be held back.
    pub fn is_waiting(&self) -> bool {
        self.waiting != Waiting::No
    }

    /// Has these fetched before the client's next byte is read.
    pub fn wait_for(&mut self, fetches: Vec<Fetch>, out: &mut CallbackOutput) {
        self.waiting = Waiting::Fetches(fetches.len());
        out.fetch = fetches;
    }

    /// A fetch that this session asked for has ended; the worker has taken its answer, or `result` says why
    /// not. When [`Self::is_waiting`] turns false, give the session the client's bytes again.
    pub fn answered(&mut self, fetch: &Fetch, result: Result<(), String>) {
        if let Err(reason) = result {
            self.fetch_failures.insert(part_name(fetch), reason);
        }
        if let Waiting::Fetches(outstanding) = self.waiting {
            self.waiting = match outstanding.saturating_sub(1) {
                0 => Waiting::No,
                left => Waiting::Fetches(left),
            };
        }
    }

    /// Tells the worker how many bytes of messages that are not whole the session holds, and how many its pending responses take.
    /// A connection that takes more than is left for all is closed.
    pub fn account(&mut self, held: usize, in_flight: usize, out: &mut CallbackOutput) {
        // Where the memory in use is known, it decides.
        let same = held == self.held;
        let within = same || self.worker.borrow_mut().holds(self.held, held) || self.memory_in_use() > 0;
        let grows = held > self.held && held > MAX_SMALL;
        self.held = held;
        self.account.waits_with(held.saturating_add(in_flight));
        let line = match (within, grows.then(|| self.has_room())) {
            (false, _) => "the connections of this worker hold too many unfinished messages; one was closed",
            (true, Some(Err(_))) => {
                "a connection keeps more than there is room for in this worker; it was closed"
            }
            (true, _) => return,
        };
        self.log(Level::Error, line);
        out.close = true;
    }

    /// Whether there is memory for one more statement that is executed and not kept.
    pub fn has_room(&self) -> Result<(), ClientError> {
        self.account.has_room(self.memory_in_use())
    }

    /// Whether there is memory to keep what was weighed last.
    pub fn may_keep(&self) -> Result<(), ClientError> {
        self.account.may_keep(self.memory_in_use())
    }

    /// Whether there is memory for one more portal.
    pub fn may_open(&self) -> Result<(), ClientError> {
        self.account.may_open()
    }

    /// Returns the bytes of memory that the module has in use.
    pub fn memory_in_use(&self) -> usize {
        self.ports.borrow().memory_in_use()
    }

    /// Enters something that takes so many bytes into the account of what is kept.
    pub fn weight(&self, bytes: usize) -> Weight {
        Weight::new(&self.account, bytes)
    }

    /// Enters what was made since so many bytes were in use.
    pub fn weight_since(&self, before: usize) -> Weight {
        self.weight(self.memory_in_use().saturating_sub(before))
    }

    /// Counts the bytes that a session of any protocol holds: the catalog while it is read, and tokens.
    pub fn bytes_of_state(&self) -> usize {
        let reading = self.catalog.reading.as_ref().map_or(0, CatalogReading::bytes);
        reading.saturating_add(self.identity.words.bytes())
    }

    /// Returns the keyring that the last statement was checked with, or the one that replaced it.
    pub fn keyring(&self) -> Option<Rc<Keyring>> {
        self.keyring.upgrade().or_else(|| self.worker.borrow().latest_keyring())
    }

    /// Whether anything is protected in this session.
    pub fn protects(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| !plan.fields.is_empty())
    }

    pub fn log(&self, level: Level, line: &str) {
        self.ports.borrow().log(level, line);
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.worker.borrow_mut().holds(self.held, 0);
    }
}

fn part_name(fetch: &Fetch) -> &'static str {
    match fetch {
        Fetch::Plan(_) => "plan",
        Fetch::Keys(_) => "keys",
    }
}
