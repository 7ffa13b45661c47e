//! The client's commands, one by one. `docs/internals/mysql-messages.md` says how each is treated.

use std::borrow::Cow;
use std::rc::Rc;

use fieldveil_mysql_wire::command::{ChangeUser, Query};
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::{Header, Sequence};
use fieldveil_mysql_wire::{CommandCode, WireError};
use fieldveil_plan::SessionInput;
use fieldveil_sql::identity::{self, Comment};

use super::check::Readiness;
use super::client::Outcome;
use super::passwords::Method;
use super::pending::{Awaited, PendingResponse, PendingResults, Single};
use super::startup::{attribute_refused, check_user, text};
use super::{CallbackOutput, Session, State};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{Checked, Step};

impl Session {
    /// Lets a command pass as it arrives, if it is of a kind that need not be read whole.
    pub(super) fn streamed(
        &mut self,
        command: CommandCode,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        use CommandCode as Is;
        let single = match command {
            Is::Quit => {
                self.core.audit.note_end(Ended::Client);
                return Some(self.pass_from_client(header));
            }
            Is::StmtSendLongData => return self.stream_long_data(header, rest, out),
            Is::StmtExecute if header.is_continued() => return self.stream_execution(header, rest, out),
            Is::Query if header.is_continued() => return self.stream_text(header, out),
            Is::InitDb => Single::MayChangeNames,
            Is::ResetConnection => Single::Resets,
            Is::Ping
            | Is::Statistics
            | Is::Refresh
            | Is::Shutdown
            | Is::ProcessKill
            | Is::Debug
            | Is::SetOption => Single::Nothing,
            _ => return None,
        };
        self.pending.push(PendingResponse::client(Awaited::Single(single)));
        Some(self.pass_from_client(header))
    }

    /// Reads a whole command.
    pub(super) fn command(
        &mut self,
        command: CommandCode,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        use CommandCode as Is;
        match command {
            Is::Query => self.query(message, out),
            Is::StmtPrepare => self.prepare(message, out),
            Is::StmtExecute => self.execute(message, bytes, out),
            Is::StmtFetch => self.fetch(message, out),
            Is::StmtClose => self.close(message, out),
            Is::StmtReset => self.reset(message, out),
            Is::StmtSendLongData => self.keep_long_data(message),
            Is::ChangeUser => self.change_user(message, bytes, out),
            Is::FieldList | Is::ProcessInfo => Ok(self.describing(command, bytes, out)),
            Is::RegisterReplica | Is::BinlogDump | Is::BinlogDumpGtid | Is::TableDump => {
                Ok(self.replication(command, bytes, out))
            }
            _ => {
                self.refuse(
                    ClientError::unsupported(
                        format!("{} is not supported", command.name()),
                        "Use a client that keeps to the commands that the sidecar's documentation names.",
                    ),
                    out,
                );
                Ok(Outcome::Done)
            }
        }
    }

    fn query(&mut self, message: &Message<'_>, out: &mut CallbackOutput) -> Result<Outcome, WireError> {
        let query = Query::parse(&message.payload, self.capabilities)?;
        if self.must_know_to_identify(query.text) {
            return Ok(self.ask_or_refuse(out));
        }
        let checked = match self.identify(query.text) {
            Err(error) => Err(error),
            Ok((text, said)) => match self.before_statement(&text, &said.comment, out) {
                Readiness::Wait => return Ok(Outcome::Again),
                Readiness::Refuse(error) => Err(error),
                Readiness::Ready(plan) => self.check(&text, &plan).map(|checked| (checked, text)),
            },
        };
        let sealed = checked.and_then(|(checked, text)| {
            let text = match (checked.analysis.splices.is_empty(), &text) {
                (true, Cow::Borrowed(_)) => None,
                (true, Cow::Owned(rewritten)) => Some(rewritten.clone()),
                (false, text) => Some(self.seal_text(text, &checked)?),
            };
            Ok((checked, text))
        });
        let (checked, text) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                self.refuse(error, out);
                return Ok(Outcome::Done);
            }
        };
        let mut entry = PendingResponse::client(Awaited::Results(PendingResults::text(Rc::clone(&checked))));
        let outcome = match text {
            Some(text) => {
                let mut sequence = Sequence::default();
                let query = Query { text: &text, ..query };
                query.encode(self.capabilities, &mut sequence, &mut out.to_server)?;
                entry = entry.shifted(message.last_sequence, sequence.next().wrapping_sub(1));
                Outcome::Done
            }
            None => Outcome::Passes,
        };
        self.executes(&checked);
        self.pending.push(entry);
        Ok(outcome)
    }

    /// Changes the user of the connection. The plan becomes that user's when the server has let the user in.
    fn change_user(
        &mut self,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let change = ChangeUser::parse(&message.payload, self.capabilities)?;
        let attributes = change.attributes.unwrap_or_default();
        if attributes.iter().any(|(name, _)| identity::mentions(name)) {
            self.refuse(attribute_refused(), out);
            return Ok(Outcome::Done);
        }
        if let Err(error) = check_user(change.user) {
            self.refuse(error, out);
            return Ok(Outcome::Done);
        }
        let method = std::mem::replace(&mut self.method, Method::of(change.auth_plugin));
        if self.shows_password(change.auth_response) {
            self.method = method;
            self.refuse(ClientError::in_clear_on_the_network(), out);
            return Ok(Outcome::Done);
        }
        let before = &self.core.policy.input.session;
        let session = SessionInput {
            user: text(change.user),
            role: text(change.user),
            database: text(change.database),
            application_name: match attributes.value(b"program_name") {
                Some(name) => text(name),
                None => before.application_name.clone(),
            },
            ..SessionInput::default()
        };
        out.to_server.extend_from_slice(bytes);
        self.pending.push(PendingResponse::client(Awaited::ChangeUser(Box::new(session))));
        Ok(Outcome::Done)
    }

    /// Handles COM_FIELD_LIST, whose response has definitions of columns only, and COM_PROCESS_INFO, which shows the statements of
    /// other sessions.
    fn describing(&mut self, command: CommandCode, bytes: &[u8], out: &mut CallbackOutput) -> Outcome {
        // No statement, but as unknown as one.
        let plan = match self.before_statement(b"SELECT 1", &Comment::Nothing, out) {
            Readiness::Wait => return Outcome::Again,
            Readiness::Refuse(error) => {
                self.refuse(error, out);
                return Outcome::Done;
            }
            Readiness::Ready(plan) => plan,
        };
        let Some(nothing) = self.nothing_checked() else { return Outcome::Done };
        let catalog = self.core.catalog.current.clone().filter(|_| !plan.fields.is_empty());
        let untouched = Checked::untouched(&plan, Rc::clone(&nothing.analysis), false);
        let checked = Rc::new(Checked { catalog, ..untouched });
        out.to_server.extend_from_slice(bytes);
        self.pending.push(PendingResponse::client(match command {
            CommandCode::FieldList => Awaited::FieldList(checked),
            _ => Awaited::Results(PendingResults::text(checked)),
        }));
        Outcome::Done
    }

    /// Handles a command of replication, which would carry the rows of every table past the field policy. It is allowed only where
    /// the plan has no field.
    fn replication(&mut self, command: CommandCode, bytes: &[u8], out: &mut CallbackOutput) -> Outcome {
        match self.before_statement(b"SELECT 1", &Comment::Nothing, out) {
            Readiness::Wait => return Outcome::Again,
            Readiness::Refuse(error) => self.refuse(error, out),
            Readiness::Ready(plan) if !plan.fields.is_empty() => self.refuse(
                ClientError::unsupported(
                    "replication connections carry sealed rows past the field policy and are not supported",
                    "Connect to the server directly for replication.",
                ),
                out,
            ),
            Readiness::Ready(_) => {
                out.to_server.extend_from_slice(bytes);
                match command {
                    CommandCode::RegisterReplica => {
                        self.pending.push(PendingResponse::client(Awaited::Single(Single::Nothing)));
                    }
                    _ => self.state = State::Passing,
                }
            }
        }
        Outcome::Done
    }
}
