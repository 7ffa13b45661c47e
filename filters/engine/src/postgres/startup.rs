//! The first packets: requests for encryption, CancelRequests, and the StartupMessage, which waits for plan and keys. The
//! plan and the keys of later statements are got here too.

use std::rc::Rc;

use fieldveil_plan::SessionInput;
use fieldveil_postgres_wire::startup::{FirstPacket, StartupMessage};
use fieldveil_sql::identity::Comment;

use super::end_user::identify_startup;
use super::names::SqlNames;
use super::pending::{Awaited, PendingResponse};
use super::refuse::write_error;
use super::{CallbackOutput, Phase, Session, Step};
use crate::client_error::ClientError;
use crate::database::{PlanChange, Unready};
use crate::ports::Level;

/// The error where the server accepts an SSLRequest or GSSENCRequest: the filter reads plain text, and Envoy cannot start TLS in
/// mid-stream.
const ENCRYPTED_UPSTREAM: &str =
    "the server answered an encryption request with yes, which the sidecar cannot follow";
const ENCRYPTED_REMEDY: &str = "Let Envoy encrypt towards the server (a TLS transport socket with ALPN postgresql, \
     PostgreSQL 17 or later) or reach it over a Unix socket; or set sslmode=disable and gssencmode=disable in the application.";

/// The server reads so many bytes of the name of a user or a database: `NAMEDATALEN` without the NUL. It cuts longer names, so
/// that another user, or another database, would be meant than the policy was asked about.
const MAX_NAME: usize = 63;

fn cut_name() -> ClientError {
    ClientError::unsupported(
        "the name of the user or of the database is longer than the 63 bytes that the server reads of it",
        "Log in by the name as the server has it.",
    )
}

impl Session {
    /// Reads the packets before the session.
    pub(super) fn read_first_packet(&mut self, rest: &[u8], out: &mut CallbackOutput) -> Step {
        let (packet, taken) = match FirstPacket::parse(rest) {
            Ok(Some(found)) => found,
            Ok(None) => return Step::More,
            Err(error) => {
                self.refuse_startup(ClientError::protocol(&error.to_string()), out);
                return Step::Took(rest.len());
            }
        };
        let bytes = rest.get(..taken).unwrap_or_default();
        match packet {
            FirstPacket::SslRequest | FirstPacket::GssEncRequest => {
                out.to_server.extend_from_slice(bytes);
                self.pending.push(PendingResponse::client(Awaited::Encryption));
            }
            FirstPacket::CancelRequest => {
                out.to_server.extend_from_slice(bytes);
                self.phase = Phase::Passing;
            }
            FirstPacket::Startup(startup) => self.startup(startup, bytes, out),
        }
        Step::Took(taken)
    }

    fn startup(&mut self, mut startup: StartupMessage, bytes: &[u8], out: &mut CallbackOutput) {
        let parameter = |name| startup.parameter(name).unwrap_or_default().to_owned();
        let user = parameter("user");
        let database = startup.parameter("database").filter(|d| !d.is_empty()).unwrap_or(&user).to_owned();
        let application_name = parameter("application_name");
        let session =
            SessionInput { role: user.clone(), user, database, application_name, ..SessionInput::default() };
        let is_cut = session.user.len() > MAX_NAME || session.database.len() > MAX_NAME;
        self.core.policy.introduce("postgres", session, &mut self.core.audit);
        self.phase = Phase::AwaitingPolicy(bytes.to_vec());
        if is_cut {
            return self.refuse_startup(cut_name(), out);
        }
        match identify_startup(&mut self.core, &mut startup) {
            Ok(None) => {}
            Ok(Some(replaced)) => self.phase = Phase::AwaitingPolicy(replaced),
            Err(error) => return self.refuse_startup(error, out),
        }
        match Replication::of(&startup) {
            Replication::No => {}
            Replication::Logical => self.settings.replicates = true,
            // Physical replication copies the whole server, which no plan covers.
            Replication::Physical => return self.refuse_startup(replication_refused(PHYSICAL), out),
        }
        self.admit(out);
    }

    /// Forwards the held StartupMessage if plan and keys are known. If not, they are fetched once; after that the session is refused.
    pub(super) fn admit(&mut self, out: &mut CallbackOutput) {
        match self.policy_ready(&Comment::Nothing) {
            Ok(()) => {
                let Phase::AwaitingPolicy(startup) =
                    std::mem::replace(&mut self.phase, Phase::Authenticating)
                else {
                    return;
                };
                out.to_server.extend_from_slice(&startup);
            }
            Err(Unready::Fetch(fetches)) => {
                self.core.wait_for(fetches, out);
            }
            Err(Unready::Refuse(error)) => self.refuse_startup(error, out),
        }
    }

    /// Uses the plan and the keys of now, and discards what was found under others. The error says what is missing.
    pub(super) fn policy_ready(&mut self, comment: &Comment) -> Result<(), Unready> {
        let logged_in = !matches!(self.phase, Phase::AwaitingPolicy(_));
        let policy = self.core.policy.find(comment, logged_in, self.core.now_ms, &mut self.core.audit)?;
        if self.settings.replicates && !policy.plan.fields.is_empty() {
            return Err(Unready::Refuse(replication_refused(LOGICAL)));
        }
        let plan = Rc::clone(&policy.plan);
        let protected = self.core.policy.protects();
        let renewed = self.core.policy.take_up(policy);
        match renewed.plan {
            PlanChange::No => {}
            PlanChange::SameStorage => self.statements.by_sql.go_on_under(&plan),
            PlanChange::Other => {
                let before = std::mem::take(&mut self.statements.by_sql);
                self.statements.by_sql = SqlNames::under(&plan, self.own_queries.name(), before);
                self.core.catalog.current = None;
                // Under a plan without fields it was not noted what may have changed the encoding.
                if !protected && !self.pending.is_empty() {
                    self.settings.encoding.doubt();
                }
            }
        }
        if renewed.keys
            && let Some(catalog) = self.core.keys_renewed()
        {
            self.statements.by_sql.catalog_read(&catalog);
        }
        Ok(())
    }

    /// Reads the server's responses to the packets before the session.
    pub(super) fn startup_answer(
        &mut self,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(first) = rest.first() else { return Ok(Step::More) };
        if self.pending.awaits_encryption() {
            self.pending.pop();
            match first {
                b'N' => out.to_client.push(b'N'),
                b'S' | b'G' => {
                    self.end_startup(&ClientError::unsupported(ENCRYPTED_UPSTREAM, ENCRYPTED_REMEDY), out);
                }
                // An old server sends an error message, and then ends the stream.
                _ => {
                    out.to_client.extend_from_slice(rest);
                    return Ok(Step::Took(rest.len()));
                }
            }
            return Ok(Step::Took(1));
        }
        Err("an answer to nothing that was asked")
    }

    /// Gives the client an error in the place of a response that the session cannot continue with, and closes the connection.
    pub(super) fn end_startup(&mut self, error: &ClientError, out: &mut CallbackOutput) {
        self.core.audit.count_refusal(error);
        self.core.log(Level::Error, &format!("{} ({}); {}", error.message, error.code, error.hint));
        write_error(&self.core, self.settings.encoding.now(), ("FATAL", error, ""), &mut out.to_client);
        out.close = true;
    }
}

/// The kind of replication that a StartupMessage asks for.
enum Replication {
    No,
    /// Logical replication, of the database that it names.
    Logical,
    /// Physical replication, of the whole server.
    Physical,
}

impl Replication {
    /// Reads the parameter as the server does: as a boolean in any spelling, or `database`. The server would refuse anything
    /// else too.
    fn of(startup: &StartupMessage) -> Self {
        let Some(mode) = startup.parameter("replication") else { return Self::No };
        let word = mode.to_ascii_lowercase();
        let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
        if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
            Self::No
        } else if mode == "database" {
            Self::Logical
        } else {
            Self::Physical
        }
    }
}

const LOGICAL: &str = "replication connections carry sealed rows past the field policy and are not supported";
const PHYSICAL: &str =
    "physical replication copies the whole server past the field policy and is not supported";

fn replication_refused(what: &str) -> ClientError {
    ClientError::unsupported(what, "Connect to the server directly for replication.")
}
