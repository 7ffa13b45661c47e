//! One MySQL or MariaDB connection through the filter.
//!
//! Bytes of either direction come in as Envoy has them, split anywhere, and go out changed only where the
//! plan says so. The life of a connection, with the file that lives each part:
//!
//! | stage | file |
//! | --- | --- |
//! | bytes come in | `callbacks.rs` |
//! | greeting, HandshakeResponse, the principal, plan and keys | `startup.rs`, `authentication.rs` |
//! | passwords in clear stay here | `passwords.rs` |
//! | a packet from the client | `client.rs` |
//! | its commands, one by one | `commands.rs`, `prepared.rs`, `cursors.rs` |
//! | those too long to be held | `streamed.rs` |
//! | a statement's text is checked against plan and catalog | `check.rs` |
//! | its literals, its parameters, the file that it loads are sealed | `seal.rs`, `parameters.rs`, `long_data.rs`, `infile.rs` |
//! | a command is refused | `refuse.rs`, `errors.rs` |
//! | what the server owes, and how far it is | `pending.rs`, `results.rs`, `preparing.rs` |
//! | a packet from the server | `server.rs`, `answers.rs` |
//! | definitions and rows | `result_sets.rs`, `definitions.rs`, `rows.rs` |
//! | a statement is prepared | `prepare_answer.rs`, `statements.rs` |
//! | the end user's token is replaced by a word | `end_user.rs` |
//! | the server says who the session is for, and how its texts are read | `identity.rs`, `session_settings.rs` |
//! | the catalog is read | `catalog.rs` |
//! | the server is asked for either | `own_queries.rs` |
//! | statements that SQL prepares | `names.rs` |

mod answers;
mod authentication;
mod callbacks;
mod catalog;
mod check;
mod client;
mod commands;
mod cursors;
mod definitions;
mod end_user;
mod errors;
mod identity;
mod infile;
mod long_data;
mod names;
mod own_queries;
mod parameters;
mod passwords;
mod pending;
mod prepare_answer;
mod prepared;
mod preparing;
mod refuse;
mod result_sets;
mod results;
mod rows;
mod seal;
mod server;
mod session_settings;
mod startup;
mod statements;
mod streamed;

use std::cell::RefCell;
use std::rc::Rc;

use fieldveil_mysql_wire::Capabilities;

use self::names::SqlNames;
use self::passwords::Method;
use self::pending::PendingResponses;
use self::session_settings::SessionSettings;
use self::statements::Statements;
use crate::client_error::ClientError;
pub use crate::database::CallbackOutput;
use crate::database::{Core, Duplex, PlanChange, Renewed, Step, Waiting};
use crate::ports::Ports;
use crate::worker::Worker;

/// Where in its life the connection is.
enum State {
    /// Before the server's greeting.
    Greeting,
    /// Before the client's HandshakeResponse.
    Handshake,
    /// The HandshakeResponse waits for plan and keys.
    AwaitingPolicy(Vec<u8>),
    /// Until the server has let the client in.
    Authenticating,
    /// Commands.
    Ready,
    /// The server sends its binary log: nothing more is read.
    Passing,
    /// Refused or broken: what the client sends is dropped, until the server has said its last word.
    Ending,
}

/// How a long message goes on in its next packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Continues {
    /// It does not.
    #[default]
    No,
    /// As it comes.
    Passing,
    /// Nowhere.
    Dropped,
}

/// A connection to MySQL or MariaDB, as the host sees it.
pub type MySqlConnection = Duplex<Session>;

/// The session of one connection.
pub struct Session {
    core: Core,
    state: State,
    /// The client's message goes on in the next packet.
    client_continues: Continues,
    /// The server's message goes on in the next packet.
    server_continues: Continues,
    /// What the client was offered; when it has answered, what both sides have.
    capabilities: Capabilities,
    /// The number of the client's last packet.
    client_sequence: u8,
    pending: PendingResponses,
    statements: Statements,
    names: SqlNames,
    /// Who the session is for, while the answer comes in.
    identity: Option<identity::IdentityRow>,
    /// The catalog of which one question was answered and another is to be asked, for the statement that waits for it.
    catalog_begun: Option<Box<catalog::CatalogResponse>>,
    settings: SessionSettings,
    /// How who logs in does so.
    method: Method,
    /// Why a command that is being dropped is to be refused.
    dropped: Option<ClientError>,
    /// The server reads a file that the client sends: its packets are no commands.
    infile: bool,
    /// A packet of that file goes on in the next one, which ends the packet and not the file if it is empty.
    infile_continues: bool,
    /// That file, if it is sealed.
    loading: Option<Box<infile::Loading>>,
}

impl Session {
    /// Makes the session of a new connection from `source`, the client's address.
    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<dyn Ports>>, source: String) -> Self {
        Self {
            core: Core::new(worker, ports, source),
            state: State::Greeting,
            client_continues: Continues::No,
            server_continues: Continues::No,
            capabilities: Capabilities::default(),
            client_sequence: 0,
            pending: PendingResponses::default(),
            statements: Statements::default(),
            names: SqlNames::default(),
            identity: None,
            catalog_begun: None,
            settings: SessionSettings::default(),
            method: Method::Proof,
            dropped: None,
            infile: false,
            infile_continues: false,
            loading: None,
        }
    }

    /// Plan or keys are others than before.
    fn renewed(&mut self, renewed: &Renewed) {
        if matches!(renewed.plan, PlanChange::Other) {
            self.core.catalog.current = None;
            self.names.forget();
        }
        if renewed.keys
            && let Some(catalog) = self.core.keys_renewed()
        {
            self.names.catalog_read(&catalog);
        }
    }

    fn waits_for_answers(&mut self) -> Step {
        self.core.waiting = Waiting::Answers;
        Step::More
    }
}
