//! The first packets: encryption requests, cancel requests, and the StartupMessage that waits for plan and
//! keys.

use std::rc::Rc;

use fieldveil_pg_wire::startup::{FirstPacket, StartupMessage};
use fieldveil_plan::{PlanInput, SessionInput};
use fieldveil_sql::identity::Comment;

use super::flight::{Awaited, Entry};
use super::names::SqlNames;
use super::{Output, Session, State, Step, Waiting};
use crate::client_error::ClientError;
use crate::fetch::{Fetch, PrincipalKey};
use crate::field::CompiledPlan;
use crate::ports::Level;

/// Said when the server wants to turn an SSLRequest or GSSENCRequest into encryption: the filter reads plain
/// text, and Envoy cannot start TLS in mid-stream.
const ENCRYPTED_UPSTREAM: &str =
    "the server answered an encryption request with yes, which the sidecar cannot follow";
const ENCRYPTED_REMEDY: &str = "Let Envoy encrypt towards the server (a TLS transport socket with ALPN postgresql, \
     PostgreSQL 17 or later) or reach it over a Unix socket; or set sslmode=disable and gssencmode=disable in the application.";

impl Session {
    /// The packets before the session.
    pub(super) fn startup_step(&mut self, rest: &[u8], out: &mut Output) -> Step {
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
                self.flight.push(Entry::client(Awaited::Encryption));
            }
            FirstPacket::CancelRequest => {
                out.to_server.extend_from_slice(bytes);
                self.state = State::Passing;
            }
            FirstPacket::Startup(startup) => self.startup(startup, bytes, out),
        }
        Step::Took(taken)
    }

    fn startup(&mut self, mut startup: StartupMessage, bytes: &[u8], out: &mut Output) {
        let parameter = |name| startup.parameter(name).unwrap_or_default().to_owned();
        let user = parameter("user");
        let database = startup.parameter("database").filter(|d| !d.is_empty()).unwrap_or(&user).to_owned();
        self.input = {
            let worker = self.worker.borrow();
            PlanInput {
                protocol: "postgres".into(),
                listener: worker.config.listener.clone(),
                workload: worker.config.workload.clone(),
                session: SessionInput {
                    role: user.clone(),
                    user,
                    database,
                    application_name: parameter("application_name"),
                    source: self.source.clone(),
                    purpose: String::new(),
                },
                ..PlanInput::default()
            }
        };
        // What it does not know yet, it asks for first.
        let _ = self.worker.borrow().identify(&mut self.input.workload);
        self.principal = Some(PrincipalKey::new(&self.input));
        self.audit_principal(None, None);
        self.state = State::AwaitingPolicy(bytes.to_vec());
        match self.identify_startup(&mut startup) {
            Ok(None) => {}
            Ok(Some(replaced)) => self.state = State::AwaitingPolicy(replaced),
            Err(error) => return self.refuse_startup(error, out),
        }
        match Replication::of(&startup) {
            Replication::No => {}
            Replication::Logical => self.replicates = true,
            // No plan speaks for a whole server.
            Replication::Physical => return self.refuse_startup(replication_refused(PHYSICAL), out),
        }
        self.admit(out);
    }

    /// Forwards the held StartupMessage if plan and keys are there, else fetches what is missing once, else
    /// refuses.
    pub(super) fn admit(&mut self, out: &mut Output) {
        match self.policy_ready(&Comment::Nothing) {
            Ok(()) => {
                let State::AwaitingPolicy(startup) =
                    std::mem::replace(&mut self.state, State::Authenticating)
                else {
                    return;
                };
                out.to_server.extend_from_slice(&startup);
            }
            Err(Unready::Fetch(fetches)) => {
                self.waiting = Waiting::Fetches(fetches.len());
                out.fetch = fetches;
            }
            Err(Unready::Refuse(error)) => self.refuse_startup(error, out),
        }
    }

    /// Takes plan and keys from the worker, for the session's principal or, where its plan reads comments, for whom the
    /// statement's comment speaks. What is missing is to be fetched, unless a fetch just failed.
    pub(super) fn policy_ready(&mut self, comment: &Comment) -> Result<(), Unready> {
        let failures = std::mem::take(&mut self.fetch_failures);
        self.identify_workload(failures.get("keys"))?;
        let Some(mut principal) = self.principal.clone() else {
            return Err(Unready::Refuse(ClientError::protocol("no StartupMessage")));
        };
        let in_vain = failures.contains_key("plan");
        let mut plan = self.worker_plan(&principal, in_vain);
        let mut by_comment = None;
        if let Some(without) = &plan {
            by_comment = self.principal_by(comment, without).map_err(Unready::Refuse)?;
        }
        if let Some(input) = &by_comment {
            principal = PrincipalKey::new(input);
            plan = self.worker.borrow_mut().plan_in_passing(&principal, &self.holder, in_vain, self.now_ms);
        }
        let keyring = self.worker.borrow().keyring(self.now_ms);
        let (plan, keyring) = match (plan, keyring) {
            (Some(plan), Some(keyring)) => (plan, keyring),
            (plan, keyring) => {
                if let (None, Some(reason)) = (&plan, failures.get("plan")) {
                    self.audit_principal(by_comment.as_ref(), None);
                    return Err(Unready::Refuse(ClientError::unavailable(
                        "the policy (OPA)",
                        reason,
                        "Start OPA or mend the policy it serves, then connect again; the sidecar need not restart.",
                    )));
                }
                if let (None, Some(reason)) = (&keyring, failures.get("keys")) {
                    return Err(no_keys(reason));
                }
                let mut fetches = Vec::new();
                if plan.is_none() {
                    fetches.push(Fetch::Plan(principal));
                }
                if keyring.is_none() {
                    fetches.push(self.worker.borrow_mut().fetch_keys(self.now_ms));
                }
                return Err(Unready::Fetch(fetches));
            }
        };
        self.audit_principal(by_comment.as_ref(), Some(&plan));
        if let Some(missing) = plan.missing_keys(&keyring) {
            return Err(Unready::Refuse(ClientError::no_keyset(&missing)));
        }
        let renewed = self.plan.as_ref().is_none_or(|held| !Rc::ptr_eq(held, &plan));
        if renewed && !self.asked_for_tenants && plan.lacks_tenant_keys(&keyring) {
            self.asked_for_tenants = true;
            return Err(Unready::Fetch(vec![self.worker.borrow_mut().fetch_keys(self.now_ms)]));
        }
        self.asked_for_tenants = false;
        let held = std::mem::replace(&mut self.keyring, Rc::downgrade(&keyring));
        let rekeyed = !held.ptr_eq(&self.keyring);
        if self.replicates && !plan.fields.is_empty() {
            return Err(Unready::Refuse(replication_refused(LOGICAL)));
        }
        if renewed {
            if self.plan.as_ref().is_some_and(|held| held.stores_as(&plan)) {
                self.statements.by_sql.go_on_under(&plan);
            } else {
                self.statements.by_sql = SqlNames::under(&plan, &self.own_name, &self.statements.by_sql);
                self.catalog.current = None;
            }
            self.plan = Some(plan);
        }
        if rekeyed {
            self.keys_renewed();
        }
        Ok(())
    }

    /// Brings who runs here up to date, before anything is asked in its name.
    fn identify_workload(&mut self, failure: Option<&String>) -> Result<(), Unready> {
        let mut worker = self.worker.borrow_mut();
        match (worker.identify(&mut self.input.workload), failure) {
            (Some(is_another), _) => {
                if is_another && self.principal.is_some() {
                    self.principal = Some(PrincipalKey::new(&self.input));
                }
                Ok(())
            }
            (None, Some(reason)) => Err(no_keys(reason)),
            (None, None) => Err(Unready::Fetch(vec![worker.fetch_keys(self.now_ms)])),
        }
    }

    /// The plan of the session's principal. Who has not logged in yet has none kept.
    fn worker_plan(&mut self, principal: &PrincipalKey, in_vain: bool) -> Option<Rc<CompiledPlan>> {
        let mut worker = self.worker.borrow_mut();
        match self.state {
            State::AwaitingPolicy(_) => worker.plan_in_passing(principal, &self.holder, in_vain, self.now_ms),
            _ => worker.plan(principal, &mut self.holder, in_vain, self.now_ms),
        }
    }

    /// Has the plan kept from now on: the server has let the session in.
    pub(super) fn hold_plan(&mut self) {
        if let Some(principal) = &self.principal {
            self.worker.borrow_mut().plan(principal, &mut self.holder, true, self.now_ms);
        }
    }

    /// Answers before the session is up.
    pub(super) fn startup_answer(&mut self, rest: &[u8], out: &mut Output) -> Result<Step, &'static str> {
        let Some(first) = rest.first() else { return Ok(Step::More) };
        if matches!(self.flight.head().map(|e| &e.awaited), Some(Awaited::Encryption)) {
            self.flight.pop();
            match first {
                b'N' => out.to_client.push(b'N'),
                b'S' | b'G' => {
                    self.end_startup(&ClientError::unsupported(ENCRYPTED_UPSTREAM, ENCRYPTED_REMEDY), out);
                }
                // An error message of an old server, up to its end of stream.
                _ => {
                    out.to_client.extend_from_slice(rest);
                    return Ok(Step::Took(rest.len()));
                }
            }
            return Ok(Step::Took(1));
        }
        Err("an answer to nothing that was asked")
    }

    /// What the server answered cannot be gone on with: the client is told in the answer's place, and the
    /// connection ends.
    pub(super) fn end_startup(&mut self, error: &ClientError, out: &mut Output) {
        self.count_refusal(error);
        self.log(Level::Error, &format!("{} ({}); {}", error.message, error.code, error.hint));
        self.write_error("FATAL", error, &mut out.to_client);
        out.close = true;
    }
}

/// What a StartupMessage asks for beside a session.
enum Replication {
    No,
    /// Of the database it names.
    Logical,
    /// Of the whole server.
    Physical,
}

impl Replication {
    /// As the server reads the parameter: a boolean in any of its spellings, or `database`. What is neither, the
    /// server would refuse too.
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

fn no_keys(reason: &str) -> Unready {
    Unready::Refuse(ClientError::unavailable(
        "the key agent",
        reason,
        "Start the key agent or mend its keysets, then connect again; the sidecar need not restart.",
    ))
}

/// Why a session cannot go on.
pub(super) enum Unready {
    /// These must be fetched first.
    Fetch(Vec<Fetch>),
    /// They were fetched, in vain.
    Refuse(ClientError),
}
