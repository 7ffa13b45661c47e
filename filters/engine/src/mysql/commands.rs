//! The client's commands, one by one. What each gets is told in `docs/mysql-commands.md`.

use std::rc::Rc;

use fieldveil_mysql_wire::WireError;
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::Header;
use fieldveil_sql::identity::Comment;
use fieldveil_sql::{Analysis, Statement};

use super::client::Outcome;
use super::flight::{Answer, Awaited, Entry, Single};
use super::preparing::Prepares;
use super::{Output, Session, State};
use crate::audit::Ended;
use crate::client_error::ClientError;
use crate::database::{Checked, Step, Unready};

/// The commands, by the names of the servers' own list.
pub(super) mod command {
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const FIELD_LIST: u8 = 0x04;
    pub const REFRESH: u8 = 0x07;
    pub const SHUTDOWN: u8 = 0x08;
    pub const STATISTICS: u8 = 0x09;
    pub const PROCESS_INFO: u8 = 0x0a;
    pub const PROCESS_KILL: u8 = 0x0c;
    pub const DEBUG: u8 = 0x0d;
    pub const PING: u8 = 0x0e;
    pub const CHANGE_USER: u8 = 0x11;
    pub const BINLOG_DUMP: u8 = 0x12;
    pub const TABLE_DUMP: u8 = 0x13;
    pub const REGISTER_SLAVE: u8 = 0x15;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    pub const STMT_RESET: u8 = 0x1a;
    pub const SET_OPTION: u8 = 0x1b;
    pub const STMT_FETCH: u8 = 0x1c;
    pub const BINLOG_DUMP_GTID: u8 = 0x1e;
    pub const RESET_CONNECTION: u8 = 0x1f;
}

impl Session {
    /// A command that passes as it comes, if it is one: it need not be held.
    pub(super) fn streamed(
        &mut self,
        command: u8,
        header: Header,
        _rest: &[u8],
        _out: &mut Output,
    ) -> Option<Step> {
        use command::{
            DEBUG, INIT_DB, PING, PROCESS_KILL, QUIT, REFRESH, RESET_CONNECTION, SET_OPTION, SHUTDOWN,
            STATISTICS, STMT_CLOSE, STMT_RESET, STMT_SEND_LONG_DATA,
        };
        let single = match command {
            QUIT => {
                self.core.ends(Ended::Client);
                return Some(self.pass_from_client(header));
            }
            STMT_CLOSE | STMT_SEND_LONG_DATA => return Some(self.pass_from_client(header)),
            INIT_DB => Single::MayChangeNames,
            RESET_CONNECTION => Single::Resets,
            PING | STATISTICS | REFRESH | SHUTDOWN | PROCESS_KILL | DEBUG | SET_OPTION | STMT_RESET => {
                Single::Nothing
            }
            _ => return None,
        };
        self.flight.push(Entry::client(Awaited::Single(single)));
        Some(self.pass_from_client(header))
    }

    /// A whole command.
    pub(super) fn command(
        &mut self,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut Output,
    ) -> Result<Outcome, WireError> {
        use command::{
            BINLOG_DUMP, BINLOG_DUMP_GTID, CHANGE_USER, FIELD_LIST, PROCESS_INFO, QUERY, REGISTER_SLAVE,
            STMT_EXECUTE, STMT_FETCH, STMT_PREPARE, TABLE_DUMP,
        };
        let command = message.payload.first().copied().unwrap_or_default();
        match self.policy_ready(&Comment::Nothing) {
            Ok(()) => {}
            Err(Unready::Fetch(fetches)) => {
                self.core.wait_for(fetches, out);
                return Ok(Outcome::Again);
            }
            Err(Unready::Refuse(error)) => {
                self.refuse(error, out);
                return Ok(Outcome::Done);
            }
        }
        if self.core.protects() {
            let error = ClientError::unsupported("this command is not supported yet", "");
            self.refuse(error, out);
            return Ok(Outcome::Done);
        }
        let Some(checked) = self.nothing_checked() else {
            self.end_session(ClientError::protocol("a command before the session is up"), out);
            return Ok(Outcome::Done);
        };
        let awaited = match command {
            QUERY | PROCESS_INFO | STMT_EXECUTE => Awaited::Results(Answer::text(checked)),
            STMT_FETCH => Awaited::Results(Answer::fetch(checked)),
            STMT_PREPARE => Awaited::Prepare(Prepares::default()),
            FIELD_LIST => Awaited::FieldList,
            REGISTER_SLAVE => Awaited::Single(Single::Nothing),
            CHANGE_USER => Awaited::ChangeUser(Box::new(self.core.input.session.clone())),
            BINLOG_DUMP | BINLOG_DUMP_GTID | TABLE_DUMP => {
                out.to_server.extend_from_slice(bytes);
                self.state = State::Passing;
                return Ok(Outcome::Done);
            }
            _ => {
                let error = ClientError::unsupported(
                    "this command is not one that clients send",
                    "Use a client that keeps to the commands of MySQL's protocol.",
                );
                self.refuse(error, out);
                return Ok(Outcome::Done);
            }
        };
        out.to_server.extend_from_slice(bytes);
        self.flight.push(Entry::client(awaited));
        Ok(Outcome::Done)
    }

    /// A command that is longer than what is held of one: it is refused when all of it was dropped.
    pub(super) fn oversized(&mut self, header: Header) -> Step {
        self.dropped = Some(ClientError::limit(
            "the command is longer than the 16 MiB that are read of one",
            "Send the statement's values as parameters of a statement that names no protected table, or in parts.",
        ));
        self.drop_from_client(header)
    }

    /// What is known of a command that is not looked at.
    pub(super) fn nothing_checked(&self) -> Option<Rc<Checked>> {
        let plan = Rc::clone(self.core.plan.as_ref()?);
        let analysis = Analysis { statements: vec![Statement::unread()], ..Analysis::default() };
        Some(Rc::new(Checked { plan, catalog: None, analysis, touched: false, speaks_of_end_user: false }))
    }
}
