//! The client's commands, one by one. `docs/internals/mysql-messages.md` says how each is treated.

use std::rc::Rc;

use fieldveil_mysql_wire::CommandCode;
use fieldveil_mysql_wire::command::ChangeUser;
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::Header;
use fieldveil_plan::SessionInput;
use fieldveil_sql::identity::{self, Comment};

use super::check::unchecked;
use super::client::{CommandError, Outcome};
use super::long_commands::LongText;
use super::passwords::Method;
use super::pending::{Awaited, PendingResponse, PendingResults, Single, UserChange};
use super::startup::{attribute_refused, check_user, text};
use super::{CallbackOutput, Phase, Session};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{CheckedText, Step};

impl Session {
    /// Lets a command pass as it arrives, if it is of a kind that need not be read whole.
    pub(super) fn pass_unread(
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
                return Some(self.client.pass(header));
            }
            Is::StmtSendLongData => {
                return self.statements.stream_long_data(&mut self.client, header, rest, out);
            }
            Is::StmtExecute if header.is_continued() => return self.stream_execution(header, rest, out),
            Is::Query if header.is_continued() => return self.stream_text(header, rest, out),
            Is::StmtPrepare if header.is_continued() => {
                return self.stream_checked_text(LongText::Prepare, header, rest, out);
            }
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
        Some(self.client.pass(header))
    }

    /// Reads a whole command.
    pub(super) fn command(
        &mut self,
        command: CommandCode,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        use CommandCode as Is;
        match command {
            Is::Query => self.query(message, out),
            Is::StmtPrepare => self.prepare(message, out),
            Is::StmtExecute => self.execute(message, bytes, out),
            Is::StmtFetch => self.fetch(message, out),
            Is::StmtClose => {
                self.statements.read_close(&message.payload, out)?;
                Ok(Outcome::Done)
            }
            Is::StmtReset => {
                self.statements.read_reset(&message.payload, out)?;
                self.pending.push(PendingResponse::client(Awaited::Single(Single::Nothing)));
                Ok(Outcome::Done)
            }
            Is::StmtSendLongData => {
                let limit = self.core.worker.borrow().config().limits.protected_value_bytes;
                self.statements.keep_long_data(&message.payload, limit)?;
                Ok(Outcome::Done)
            }
            Is::ChangeUser => self.change_user(message, bytes, out),
            Is::FieldList | Is::ProcessInfo => self.describe(command, bytes, out),
            Is::RegisterReplica | Is::BinlogDump | Is::BinlogDumpGtid | Is::TableDump => {
                self.replicate(command, bytes, out)
            }
            _ => Err(CommandError::Refused(ClientError::unsupported(
                format!("{} is not supported", command.name()),
                "Use a client that keeps to the commands that the sidecar's documentation names.",
            ))),
        }
    }

    /// Changes the user of the connection. The plan becomes that user's when the server has let the user in.
    fn change_user(
        &mut self,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let change = ChangeUser::parse(&message.payload, self.capabilities)?;
        let attributes = change.attributes.unwrap_or_default();
        if attributes.iter().any(|(name, _)| identity::mentions(name)) {
            return Err(attribute_refused().into());
        }
        check_user(change.user)?;
        let method = Method::of(change.auth_plugin);
        if method.shows_password(change.auth_response, &self.core) {
            return Err(ClientError::in_clear_on_the_network().into());
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
        let change = Box::new(UserChange { session, method });
        self.pending.push(PendingResponse::client(Awaited::ChangeUser(change)));
        Ok(Outcome::Done)
    }

    /// Handles COM_FIELD_LIST, whose response has definitions of columns only, and COM_PROCESS_INFO, which shows the statements of
    /// other sessions.
    fn describe(
        &mut self,
        command: CommandCode,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        // No statement, but as unknown as one.
        let Some(plan) = self.before_statement(b"SELECT 1", &Comment::Nothing, out)? else {
            return Ok(Outcome::Again);
        };
        let Some(nothing) = unchecked(&self.core) else { return Ok(Outcome::Done) };
        let catalog = self.core.catalog.current.clone().filter(|_| !plan.fields.is_empty());
        let untouched = CheckedText::untouched(&plan, Rc::clone(&nothing.analysis), false);
        let checked = Rc::new(CheckedText { catalog, ..untouched });
        out.to_server.extend_from_slice(bytes);
        self.pending.push(PendingResponse::client(match command {
            CommandCode::FieldList => Awaited::FieldList(checked),
            _ => Awaited::Results(PendingResults::text(checked)),
        }));
        Ok(Outcome::Done)
    }

    /// Handles a command of replication, which would carry the rows of every table past the field policy. It is allowed only where
    /// the plan has no field.
    fn replicate(
        &mut self,
        command: CommandCode,
        bytes: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Outcome, CommandError> {
        let Some(plan) = self.before_statement(b"SELECT 1", &Comment::Nothing, out)? else {
            return Ok(Outcome::Again);
        };
        if !plan.fields.is_empty() {
            return Err(CommandError::Refused(ClientError::unsupported(
                "replication connections carry sealed rows past the field policy and are not supported",
                "Connect to the server directly for replication.",
            )));
        }
        out.to_server.extend_from_slice(bytes);
        match command {
            CommandCode::RegisterReplica => {
                self.pending.push(PendingResponse::client(Awaited::Single(Single::Nothing)));
            }
            _ => self.phase = Phase::Passing,
        }
        Ok(Outcome::Done)
    }
}
