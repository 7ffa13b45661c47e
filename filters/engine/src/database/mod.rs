//! What a connection to a database does with plan, keys, values and audit, whatever protocol it speaks. The modules
//! beside this one, each of one protocol, own a [`Core`] and do the rest.
//!
//! | what | file |
//! | --- | --- |
//! | bytes come in, and answers to what was fetched | `connection.rs` |
//! | bytes that wait for their rest | `inbox.rs` |
//! | bytes that go on as they came | `unchanged.rs` |
//! | the principal, plan and keys | `policy.rs` |
//! | the server's catalog | `catalog.rs` |
//! | a statement as it was checked | `checked.rs` |
//! | a text is checked against plan and catalog | `check.rs` |
//! | values are sealed | `seal.rs` |
//! | a row is treated | `treat.rs` |
//! | who the session is for, as the server says | `identity.rs` |
//! | the words that a server has in the place of tokens | `token_words.rs` |
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
pub use self::connection::Connection;
pub(crate) use self::connection::WireProtocol;
pub(crate) use self::identity::{Replaced, SessionIdentity};
pub(crate) use self::inbox::Inbox;
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

/// Bytes of one message that are held at most, so that it can be read whole. A longer one passes if nothing
/// in it is protected, and is refused if something may be.
pub const MAX_HELD: usize = 16 << 20;
/// A connection that holds no more than this is not ended for lack of room.
const MAX_SMALL: usize = 64 << 10;

/// What one callback comes to. It holds opened values: no `Debug`.
#[derive(Default)]
pub struct CallbackOutput {
    /// So many of the bytes that came go on as they came, and nothing else: what is for the side that they go to is empty
    /// then.
    pub unchanged: usize,
    /// Bytes to the server. Of what came from the server they are no more than must go ahead of the client's next bytes.
    pub to_server: Vec<u8>,
    /// Bytes to the client.
    pub to_client: Vec<u8>,
    /// What to fetch, then to tell the session's `answered`.
    pub fetch: Vec<Fetch>,
    /// The session waited for the server and does no more: give it the client's bytes again.
    pub resume: bool,
    /// End the connection on both sides.
    pub close: bool,
}

impl CallbackOutput {
    /// As new, but for its memory, in which nothing is left of what it held.
    pub fn clear(&mut self) {
        for bytes in [&mut self.to_server, &mut self.to_client] {
            bytes.fill(0);
            // Not to be left out where the memory is given back right behind.
            std::hint::black_box(&mut *bytes);
            bytes.clear();
        }
        self.fetch.clear();
        (self.unchanged, self.resume, self.close) = (0, false, false);
    }

    /// Bytes of memory that it has.
    pub fn memory(&self) -> usize {
        self.to_server.capacity().saturating_add(self.to_client.capacity())
    }
}

/// What a step over one side's bytes did.
pub(crate) enum Step {
    /// Took this many bytes, and wrote what goes on in their place.
    Took(usize),
    /// This many bytes go on as they came, behind what was written.
    Pass(usize),
    /// More bytes are needed, or the session waits.
    More,
}

/// Why the client's bytes are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    No,
    /// For this many fetches.
    Fetches(usize),
    /// For what the server was asked: who the session is for, the catalog.
    Server,
    /// For answers in flight.
    Answers,
}

/// One connection, the protocol aside: for whom it is, under which plan and keys, and what is to be told of it.
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
    /// Whose plan and keys were taken up in this callback: within one neither they nor the clock change.
    settled: Option<PrincipalKey>,
    /// Keeps the principal's plan with the worker.
    holder: Holder,
    pub plan: Option<Rc<CompiledPlan>>,
    /// What the last statement was checked with. The worker alone keeps it, so that keys that are gone from the agent
    /// are gone here, however long the session says nothing.
    keyring: Weak<Keyring>,
    /// The tenants' keysets of a new plan were asked for; what has not come by then is not waited for.
    asked_for_tenants: bool,
    pub catalog: CatalogState,
    pub identity: SessionIdentity,
    /// Why the last fetch of the plan, of the keys failed.
    fetch_failures: BTreeMap<&'static str, String>,
    /// Held bytes that the worker knows of.
    held: usize,
    /// What the connection keeps.
    account: Rc<Account>,
    plan_weights: RefCell<PlanWeights>,
    audit: Rc<RefCell<Audit>>,
    /// The worker's, while this callback treats values.
    buffers: Option<Box<Buffers>>,
    /// What this callback may still write of values.
    prints: PrintBudget,
    ended: Option<Ended>,
}

impl Core {
    /// Of a new connection from `source`, the client's address.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        let audit = worker.borrow().audit(random_name(&*ports));
        // Whose it is, the server says when it lets the client in.
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

    /// A callback begins.
    pub fn begin_callback(&mut self) {
        self.now_ms = self.ports.borrow().now_ms();
        self.settled = None;
    }

    /// A callback with the server's bytes begins. What these come to depends on the time only where something is protected,
    /// or was asked.
    pub fn begin_answer(&mut self) {
        if self.protects() || self.is_waiting() {
            self.begin_callback();
        }
    }

    /// This callback looks at so many bytes: what it may write of values goes by that.
    pub fn begin_prints(&mut self, bytes: usize) {
        self.prints = PrintBudget::of(bytes);
    }

    /// So many bytes of a value were written.
    pub fn print(&mut self, bytes: usize) -> Result<(), ClientError> {
        self.prints.take(bytes).map_err(|PrintedTooMuch(limit)| ClientError::printed_too_much(limit))
    }

    /// Whether the client's bytes are to be held back.
    pub fn is_waiting(&self) -> bool {
        self.waiting != Waiting::No
    }

    /// These are to be fetched before the client's next byte is looked at.
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

    /// Tells the worker how many bytes of messages that are not whole the session holds now, and how many wait for answers
    /// beside. A connection that takes more than is left for all ends.
    pub fn account(&mut self, held: usize, in_flight: usize, out: &mut CallbackOutput) {
        // Where it is known what is in use, that decides.
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

    /// Whether one more statement may be looked at, to be executed and gone.
    pub fn has_room(&self) -> Result<(), ClientError> {
        self.account.has_room(self.memory_in_use())
    }

    /// Whether what was just weighed may be kept.
    pub fn may_keep(&self) -> Result<(), ClientError> {
        self.account.may_keep(self.memory_in_use())
    }

    /// Whether a portal may be opened on what is kept.
    pub fn may_open(&self) -> Result<(), ClientError> {
        self.account.may_open()
    }

    /// Bytes of memory that are in use.
    pub fn memory_in_use(&self) -> usize {
        self.ports.borrow().memory_in_use()
    }

    /// What weighs so much, and is kept.
    pub fn weight(&self, bytes: usize) -> Weight {
        Weight::new(&self.account, bytes)
    }

    /// What was made since so many bytes were in use, and is kept.
    pub fn weight_since(&self, before: usize) -> Weight {
        self.weight(self.memory_in_use().saturating_sub(before))
    }

    /// Counts the bytes that a session of any protocol holds: the catalog while it is read, and tokens.
    pub fn bytes_of_state(&self) -> usize {
        let reading = self.catalog.reading.as_ref().map_or(0, CatalogReading::bytes);
        reading.saturating_add(self.identity.words.bytes())
    }

    /// The keyring that the last statement was checked with, or the one that has taken its place.
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
