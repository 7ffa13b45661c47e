//! One PostgreSQL connection through the filter.
//!
//! Bytes of either direction come in as Envoy has them, split anywhere, and go out changed only where the
//! plan says so. What is no matter of the protocol is done in `../database`. The life of a connection, with the file that
//! lives each part:
//!
//! | stage | file |
//! | --- | --- |
//! | bytes come in | `callbacks.rs` |
//! | the first packets, the principal, plan and keys | `startup.rs` |
//! | logging in | `authentication.rs` |
//! | a message from the client | `client.rs`, `extended.rs`, `portals.rs` |
//! | a statement's text is checked against plan and catalog | `check.rs` |
//! | its literals, its parameters are sealed | `seal.rs` |
//! | a statement is refused | `refuse.rs` |
//! | what the server owes | `pending.rs`, `statements.rs` |
//! | a message from the server | `server.rs` |
//! | a row is treated | `rows.rs` |
//! | the end user's token is replaced by a word | `end_user.rs` |
//! | the server says who the session is for | `identity.rs` |
//! | the catalog is read | `catalog.rs` |
//! | the server is asked for either | `own_queries.rs` |
//! | rows of a COPY, either way | `copy.rs` |
//! | prepared statements and cursors of SQL | `names.rs` |

mod authentication;
mod callbacks;
mod catalog;
mod check;
mod client;
mod copy;
mod cursors;
mod end_user;
mod extended;
mod identity;
mod names;
mod own_queries;
mod pending;
mod portals;
mod refuse;
mod rows;
mod seal;
mod server;
mod startup;
mod statements;

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_pg_wire::backend::TransactionStatus;

use self::copy::{CopyOut, Copying};
use self::pending::PendingResponses;
use self::statements::Statements;
use crate::client_error::ClientError;
pub use crate::database::CallbackOutput;
use crate::database::{Core, Inbox, MAX_HELD, Step, Waiting};
use crate::ports::{Ports, random_name};
use crate::worker::Worker;

/// Where in its life the connection is.
enum State {
    /// Before the StartupMessage.
    Startup,
    /// The StartupMessage waits for plan and keys.
    AwaitingPolicy(Vec<u8>),
    /// Until the first ReadyForQuery.
    Authenticating,
    /// Statements.
    Ready,
    /// A CancelRequest: nothing more is read.
    Passing,
    /// Refused or broken: what the client sends is dropped, until the server has said its last word.
    Ending,
}

/// The transaction block.
#[derive(Default)]
struct Block {
    /// It is open for sure: neither Sync nor Query ends it.
    is_open: bool,
    /// Something in it changed the catalog: its end, too, may change it.
    changed_catalog: bool,
    /// Something in it changed who the session is for, likewise.
    changed_identity: bool,
}

/// What the server reports of the session, as far as it bears on reading statements.
struct Settings {
    utf8: bool,
    standard_strings: bool,
    search_path: Vec<u8>,
}

impl Settings {
    /// Whether statements can be read as the server reads them.
    fn readable(&self) -> Result<(), ClientError> {
        let refuse = |what, remedy| Err(ClientError::unsupported(what, remedy));
        if !self.utf8 {
            return refuse(
                "statements cannot be read: client_encoding is not UTF8",
                "Set client_encoding to UTF8.",
            );
        }
        if !self.standard_strings {
            let what = "statements cannot be read: standard_conforming_strings is off";
            return refuse(what, "Set standard_conforming_strings to on.");
        }
        Ok(())
    }
}

/// What is happening to the rest of an answer whose row could not be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Swallowing {
    No,
    /// Until ReadyForQuery, which is passed on.
    UntilReady,
}

/// One connection.
pub struct Session {
    core: Core,
    state: State,
    /// A logical replication connection: only under a plan without fields.
    replicates: bool,
    client: Inbox,
    server: Inbox,
    pending: PendingResponses,
    statements: Statements,
    block: Block,
    /// Who the session is for, while the answer comes in.
    identity: Option<identity::IdentityRow>,
    settings: Settings,
    status: TransactionStatus,
    /// Syncs sent.
    group: u64,
    /// Extended messages went since the last Sync.
    in_pipeline: bool,
    /// The server skips, or is to believe that it skips, up to the next Sync.
    skipping: bool,
    /// The server reads COPY data.
    copy_in: bool,
    /// What becomes of the client's COPY data.
    copying: Copying,
    /// COPYs from the client so far, of protected tables.
    copies: u64,
    /// What becomes of the server's COPY data; None if it passes.
    copy_out: Option<CopyOut>,
    swallowing: Swallowing,
    /// The name of the filter's own statement and portal, and of one that does not exist: not to be guessed, so
    /// that no client can take it.
    own_name: String,
}

impl Session {
    /// A new connection from `source`, the client's address.
    pub fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        let own_name = own_name(&ports);
        Self {
            // The audit has another name: the own one is not to be known.
            core: Core::new(worker, ports, source),
            own_name,
            state: State::Startup,
            replicates: false,
            client: Inbox::default(),
            server: Inbox::default(),
            pending: PendingResponses::default(),
            statements: Statements::default(),
            block: Block::default(),
            identity: None,
            settings: Settings { utf8: true, standard_strings: true, search_path: Vec::new() },
            status: TransactionStatus::Idle,
            group: 0,
            in_pipeline: false,
            skipping: false,
            copy_in: false,
            copying: Copying::No,
            copies: 0,
            copy_out: None,
            swallowing: Swallowing::No,
        }
    }
}

fn own_name(ports: &Rc<RefCell<dyn Ports>>) -> String {
    format!("fieldveil_{}", random_name(&**ports))
}
