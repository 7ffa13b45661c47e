//! A message from the server, read in the light of what it answers.

use std::rc::Rc;

use fieldveil_pg_wire::backend::{
    ErrorResponse, ParameterDescription, ParameterStatus, ReadyForQuery, RowDescription, TransactionStatus,
    tag,
};
use fieldveil_pg_wire::frame::HEADER_LEN;
use fieldveil_pg_wire::{Format, Header};

use super::copy::{self, CopyOut};
use super::flight::{Awaited, Entry, Origin};
use super::rows::{self, RowError, RowPlan};
use super::statements::{Checked, Portal};
use super::{MAX_HELD, Output, Session, State, Step, Swallowing, Waiting};
use crate::client_error::ClientError;
use crate::ports::Level;

/// What becomes of the message.
pub(super) enum Fate {
    /// It goes to the client as it came.
    Pass,
    /// It goes nowhere, or something went in its place.
    Taken,
}

const OUT_OF_PLACE: &str = "an answer to another message than the one in flight";
pub(super) const MALFORMED: &str = "a malformed message";

impl Session {
    /// One step over the server's bytes.
    pub(super) fn server_step(&mut self, rest: &[u8], out: &mut Output) -> Result<Step, &'static str> {
        if rest.is_empty() {
            return Ok(Step::More);
        }
        if matches!(self.state, State::Passing) {
            self.server.pass = rest.len();
            return Ok(Step::Took(0));
        }
        let encryption = matches!(self.flight.head().map(|e| &e.awaited), Some(Awaited::Encryption));
        if encryption || matches!(self.state, State::Startup | State::AwaitingPolicy(_)) {
            return self.startup_answer(rest, out);
        }
        let Some(header) = Header::peek(rest).map_err(|_| MALFORMED)? else { return Ok(Step::More) };
        if !tag::is_known(header.tag) {
            return Err("an unknown message type");
        }
        if self.streams(header) {
            self.server.pass = header.total_len();
            return Ok(Step::Took(0));
        }
        let Some(message) = rest.get(..header.total_len()) else {
            return self.long_message(header, rest, out);
        };
        let body = message.get(HEADER_LEN..).unwrap_or_default();
        if let Fate::Pass = self.server_message(header.tag, body, out)? {
            out.to_client.extend_from_slice(message);
        }
        Ok(Step::Took(message.len()))
    }

    /// Whether the message passes unread, whatever its length.
    fn streams(&mut self, header: Header) -> bool {
        if self.swallowing == Swallowing::UntilReady {
            return false;
        }
        match header.tag {
            tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE => true,
            tag::COPY_DATA => self.copy_out.is_none(),
            tag::DATA_ROW => match self.flight.head().map(|e| (&e.awaited, e.origin)) {
                Some((Awaited::Query(checked, _, plan), _)) => {
                    plan.as_ref().map_or(!checked.touched, |plan| plan.is_empty())
                }
                Some((Awaited::Execute(Some(portal)), _)) => !portal.checked.returns_protected(),
                Some((Awaited::Execute(None), _)) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// A message that is not whole yet, or too long to be read whole: of a row, the begin up to its last protected value
    /// is enough.
    fn long_message(&mut self, header: Header, rest: &[u8], out: &mut Output) -> Result<Step, &'static str> {
        if header.total_len() <= MAX_HELD {
            return Ok(Step::More);
        }
        if self.swallowing == Swallowing::UntilReady {
            self.server.drop = header.total_len();
            return Ok(Step::Took(0));
        }
        if !copy::holds_row(header.tag) {
            return Err("a message too long to be read");
        }
        let begin = rest.get(HEADER_LEN..).unwrap_or_default();
        match self.treat_begin(header.tag, begin) {
            Ok(None) if rest.len() < MAX_HELD => return Ok(Step::More),
            Ok(None) => {
                let error = ClientError::limit(
                    "a row is longer than the 16 MiB that are read of one, and a protected column stands behind",
                    "Select the protected columns before the long ones, or shorter ones.",
                );
                self.row_failed(&error, out);
                self.server.drop = header.total_len();
            }
            Ok(Some((taken, treated))) => {
                let left = header.body_len.saturating_sub(taken);
                out.to_client.extend(copy::head(header.tag, &treated, left).ok_or(MALFORMED)?);
                self.server.pass = left;
                return Ok(Step::Took(HEADER_LEN.saturating_add(taken)));
            }
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                self.row_failed(&error, out);
                self.server.drop = header.total_len();
            }
        }
        Ok(Step::Took(0))
    }

    /// The treated begin of a row that is not whole.
    fn treat_begin(&mut self, tag: u8, begin: &[u8]) -> Result<Option<(usize, Vec<u8>)>, RowError> {
        let Some(keyring) = self.keyring.clone() else {
            return Err(RowError::Server("rows came before the keys"));
        };
        if tag == tag::COPY_DATA {
            let Some(mut copy) = self.copy_out.take() else { return Ok(Some((0, Vec::new()))) };
            let begun = copy.begin(begin, &keyring, |label, treatment| self.count(treatment, label));
            self.copy_out = Some(copy);
            return begun;
        }
        match self.row_plan().map_err(RowError::Server)? {
            Some(plan) => plan.begin(begin, &keyring, |label, treatment| self.count(treatment, label)),
            None => {
                Err(ClientError::protocol("rows of a protected table came before their description").into())
            }
        }
    }

    fn server_message(&mut self, tag: u8, body: &[u8], out: &mut Output) -> Result<Fate, &'static str> {
        if tag == tag::PARAMETER_STATUS {
            return self.parameter_status(body);
        }
        if matches!(self.state, State::Authenticating) && tag != tag::ERROR_RESPONSE {
            return self.authentication_message(tag, body, out);
        }
        match tag {
            tag::READY_FOR_QUERY => return self.ready_for_query(body),
            tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE => return Ok(Fate::Pass),
            _ if self.swallowing == Swallowing::UntilReady => return Ok(Fate::Taken),
            tag::ERROR_RESPONSE => return self.error_response(body, out),
            tag::AUTHENTICATION | tag::BACKEND_KEY_DATA | tag::NEGOTIATE_PROTOCOL_VERSION => {
                return Ok(Fate::Pass);
            }
            _ => {}
        }
        let entry = self.flight.head().ok_or(OUT_OF_PLACE)?;
        let fate = match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        };
        match (tag, &mut entry.awaited) {
            (tag::PARSE_COMPLETE, Awaited::Parse(statement)) => {
                if let Some(statement) = statement {
                    statement.confirmed.set(true);
                }
                self.flight.pop();
            }
            (tag::BIND_COMPLETE, Awaited::Bind) | (tag::CLOSE_COMPLETE, Awaited::Close) => {
                self.flight.pop();
            }
            (tag::NO_DATA, Awaited::DescribeStatement(_) | Awaited::DescribePortal(_)) => {
                self.flight.pop();
            }
            (
                tag::COMMAND_COMPLETE | tag::EMPTY_QUERY_RESPONSE | tag::PORTAL_SUSPENDED,
                Awaited::Execute(_),
            ) => {
                self.flight.pop();
                self.copy_out = None;
            }
            (tag::COMMAND_COMPLETE, Awaited::Catalog) => {
                self.flight.pop();
                self.catalog_read();
                self.waiting = Waiting::No;
            }
            (tag::COMMAND_COMPLETE | tag::EMPTY_QUERY_RESPONSE, Awaited::Query(_, statement, rows)) => {
                *rows = None;
                *statement = statement.saturating_add(1);
                self.copy_out = None;
            }
            (tag::DATA_ROW, _) => return self.data_row(body, out),
            (tag::PARAMETER_DESCRIPTION | tag::ROW_DESCRIPTION, _) => {
                return self.description(tag, body, fate, out);
            }
            (tag::COPY_IN_RESPONSE, Awaited::Query(..) | Awaited::Execute(_)) => {
                self.copy_in = !self.flight.begin_copy();
            }
            (tag::COPY_OUT_RESPONSE, Awaited::Query(..) | Awaited::Execute(_)) => {
                let checked = entry.executed();
                self.copy_out =
                    checked.and_then(|checked| checked.copy().and_then(|copy| CopyOut::new(checked, copy)));
            }
            (tag::COPY_DATA, Awaited::Query(..) | Awaited::Execute(_)) => return self.copy_row(body, out),
            (tag::COPY_DONE | tag::COPY_BOTH_RESPONSE, Awaited::Query(..) | Awaited::Execute(_))
            | (tag::FUNCTION_CALL_RESPONSE, Awaited::FunctionCall) => {}
            _ => return Err(OUT_OF_PLACE),
        }
        Ok(fate)
    }

    fn parameter_status(&mut self, body: &[u8]) -> Result<Fate, &'static str> {
        let status = ParameterStatus::parse(body).map_err(|_| MALFORMED)?;
        match status.name {
            b"client_encoding" => {
                self.settings.utf8 = status.value.eq_ignore_ascii_case(b"UTF8");
                self.catalog.current = None;
            }
            b"standard_conforming_strings" => self.settings.standard_strings = status.value == b"on",
            b"search_path" if status.value != self.settings.search_path => {
                self.settings.search_path = status.value.to_vec();
                self.catalog.current = None;
            }
            _ => {}
        }
        Ok(Fate::Pass)
    }

    fn ready_for_query(&mut self, body: &[u8]) -> Result<Fate, &'static str> {
        self.status = ReadyForQuery::parse(body).map_err(|_| MALFORMED)?.status;
        self.swallowing = Swallowing::No;
        let entry = self.flight.pop().ok_or(OUT_OF_PLACE)?;
        if !matches!(entry.awaited, Awaited::Query(..) | Awaited::Sync | Awaited::FunctionCall) {
            return Err(OUT_OF_PLACE);
        }
        if self.flight.is_empty() {
            self.catalog.in_block = self.status == TransactionStatus::InTransaction;
        }
        if self.flight.is_empty() && self.status == TransactionStatus::Idle {
            self.statements.forget_portals();
            self.catalog.changed_in_transaction = false;
        }
        Ok(match entry.origin {
            Origin::Client => Fate::Pass,
            Origin::Injected => Fate::Taken,
        })
    }

    /// ParameterDescription or RowDescription: the declared types in the place of the stored ones.
    fn description(
        &mut self,
        tag: u8,
        body: &[u8],
        fate: Fate,
        out: &mut Output,
    ) -> Result<Fate, &'static str> {
        let entry = self.flight.head().ok_or(OUT_OF_PLACE)?;
        if tag == tag::PARAMETER_DESCRIPTION {
            let Awaited::DescribeStatement(statement) = &entry.awaited else { return Err(OUT_OF_PLACE) };
            let Some(statement) = statement.as_ref().filter(|s| s.checked.borrow().touched) else {
                return Ok(fate);
            };
            if matches!(fate, Fate::Taken) {
                return Ok(fate);
            }
            let mut parameters = ParameterDescription::parse(body).map_err(|_| MALFORMED)?;
            let checked = statement.checked.borrow();
            for parameter in &checked.analysis.parameters {
                let index = usize::from(parameter.number).saturating_sub(1);
                let field = checked.plan.fields.get(parameter.field);
                if let (Some(oid), Some(field)) = (parameters.types.get_mut(index), field) {
                    let declared = field.declared.oid();
                    *oid = match parameter.array {
                        true => fieldveil_values::oid::array_of(declared).unwrap_or(*oid),
                        false => declared,
                    };
                }
            }
            parameters.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
            return Ok(Fate::Taken);
        }
        let mut description = RowDescription::parse(body).map_err(|_| MALFORMED)?;
        let mut number = 0;
        let checked: Option<Rc<Checked>> = match &mut entry.awaited {
            Awaited::Query(checked, statement, rows) => {
                let columns = rows::columns(&description);
                // FETCH from a binary cursor brings binary values.
                let format = |index: usize| columns.get(index).map_or(Format::Text, |column| column.format);
                *rows = checked.touched.then(|| Rc::new(RowPlan::new(checked, *statement, &columns, format)));
                number = *statement;
                Some(Rc::clone(checked))
            }
            Awaited::DescribeStatement(statement) => {
                let statement = statement.take();
                self.flight.pop();
                statement.map(|statement| {
                    statement.columns.get_or_init(|| rows::columns(&description));
                    Rc::clone(&statement.checked.borrow())
                })
            }
            Awaited::DescribePortal(portal) => {
                let portal = portal.take();
                self.flight.pop();
                portal.map(|portal| {
                    let columns = rows::columns(&description);
                    let format =
                        |index: usize| columns.get(index).map_or(Format::Text, |column| column.format);
                    portal.rows.get_or_init(|| Rc::new(RowPlan::new(&portal.checked, 0, &columns, format)));
                    Rc::clone(&portal.checked)
                })
            }
            _ => return Err(OUT_OF_PLACE),
        };
        match checked {
            Some(checked) if checked.touched && matches!(fate, Fate::Pass) => {
                rows::declare(&mut description, &checked, number);
                description.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
                Ok(Fate::Taken)
            }
            _ => Ok(fate),
        }
    }

    /// What the rows that come now get; None while that is not known.
    fn row_plan(&mut self) -> Result<Option<Rc<RowPlan>>, &'static str> {
        match &self.flight.head().ok_or(OUT_OF_PLACE)?.awaited {
            Awaited::Query(_, _, rows) => Ok(rows.clone()),
            Awaited::Execute(Some(portal)) => Ok(portal_rows(portal)),
            _ => Err(OUT_OF_PLACE),
        }
    }

    /// CopyData with rows of a protected table.
    fn copy_row(&mut self, body: &[u8], out: &mut Output) -> Result<Fate, &'static str> {
        if self.copy_out.is_none() {
            return Ok(Fate::Pass);
        }
        match self.treat_begin(tag::COPY_DATA, body) {
            Ok(Some((taken, treated))) => {
                let rest = body.get(taken..).unwrap_or_default();
                out.to_client.extend(copy::head(tag::COPY_DATA, &treated, rest.len()).ok_or(MALFORMED)?);
                out.to_client.extend_from_slice(rest);
            }
            Ok(None) => return Err("a CopyData message that ends within a row"),
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => self.row_failed(&error, out),
        }
        Ok(Fate::Taken)
    }

    fn data_row(&mut self, body: &[u8], out: &mut Output) -> Result<Fate, &'static str> {
        if let Some(Awaited::Catalog) = self.flight.head().map(|entry| &entry.awaited) {
            self.catalog_row(body);
            return Ok(Fate::Taken);
        }
        let plan = self.row_plan()?;
        let keyring = self.keyring.clone();
        let (Some(plan), Some(keyring)) = (plan, keyring) else {
            let error = ClientError::protocol("rows of a protected table came before their description");
            self.row_failed(&error, out);
            return Ok(Fate::Taken);
        };
        if plan.is_empty() {
            return Ok(Fate::Pass);
        }
        let start = out.to_client.len();
        let written =
            plan.write(body, &keyring, &mut out.to_client, |label, treatment| self.count(treatment, label));
        match written {
            Ok(()) => {}
            Err(RowError::Server(reason)) => return Err(reason),
            Err(RowError::Treatment(error)) => {
                out.to_client.truncate(start);
                self.row_failed(&error, out);
            }
        }
        Ok(Fate::Taken)
    }

    fn catalog_row(&mut self, body: &[u8]) {
        let (Some(reading), Some(plan)) = (&mut self.catalog.reading, &self.plan) else { return };
        if let Err(reason) = reading.row(body, plan) {
            self.catalog_failed(reason);
        }
    }

    /// A row that the client can't be given. The client gets an error in its place and nothing more of this
    /// answer. Where the server has done, or will do, more than read, an error would say too little: then
    /// the session ends.
    fn row_failed(&mut self, error: &ClientError, out: &mut Output) {
        self.count("unreadable", error.code);
        self.log(Level::Error, &error.message);
        let behind = self.flight.executes_behind_head();
        let (only_reads, extended) = match self.flight.head().map(|e| &e.awaited) {
            Some(Awaited::Query(checked, ..)) => (checked.only_reads(), false),
            Some(Awaited::Execute(Some(portal))) => (portal.checked.only_reads() && !behind, true),
            _ => (false, true),
        };
        if !only_reads {
            self.write_error("FATAL", error, &mut out.to_client);
            out.close = true;
            return;
        }
        self.write_error("ERROR", error, &mut out.to_client);
        self.swallowing = Swallowing::UntilReady;
        if extended {
            // What waits behind has no effect that could be taken back; what it prepared is forgotten.
            let (skipped, sync_sent) = self.flight.skip_to_sync();
            self.take_back(skipped);
            self.skipping |= !sync_sent;
        }
    }

    fn take_back(&mut self, skipped: Vec<Entry>) {
        for entry in skipped.into_iter().rev() {
            let names = entry.names.into_iter().rev().map(|(_, undo)| undo);
            names.chain(entry.undo).for_each(|undo| self.statements.undo(undo));
        }
    }

    /// A text failed: what its statements from the one at fault on would have prepared is not there.
    fn take_back_names(&mut self) {
        let Some(entry) = self.flight.head() else { return };
        let Awaited::Query(_, failed, _) = &entry.awaited else { return };
        let failed = *failed;
        for (_, undo) in
            std::mem::take(&mut entry.names).into_iter().rev().filter(|(number, _)| *number >= failed)
        {
            self.statements.undo(undo);
        }
    }

    fn error_response(&mut self, body: &[u8], out: &mut Output) -> Result<Fate, &'static str> {
        let response = ErrorResponse::parse(body).map_err(|_| MALFORMED)?;
        let code = response.field(ErrorResponse::CODE).unwrap_or_default();
        let severity = response.field(ErrorResponse::SEVERITY_NONLOCALIZED).unwrap_or_default();
        let fatal = severity != b"ERROR";
        self.copy_in = false;
        self.copy_out = None;
        let Some(entry) = self.flight.head() else { return Ok(Fate::Pass) };
        let refused = entry.refused.clone().filter(|_| Self::is_provoked(code));
        let ends = matches!(entry.awaited, Awaited::End);
        let is_copy = entry.is_copy();
        let for_catalog = entry.origin == Origin::Injected
            && matches!(entry.awaited, Awaited::Parse(_) | Awaited::Bind | Awaited::Catalog);
        let simple = matches!(entry.awaited, Awaited::Query(..) | Awaited::FunctionCall | Awaited::Sync);
        let mut fate = Fate::Pass;
        if let Some(error) = refused {
            self.write_error(if ends { "FATAL" } else { "ERROR" }, &error, &mut out.to_client);
            fate = Fate::Taken;
        }
        if is_copy {
            self.copy_given_up();
        }
        if fatal || ends || simple {
            self.take_back_names();
            return Ok(fate);
        }
        let (skipped, sync_sent) = self.flight.skip_to_sync();
        self.take_back(skipped);
        self.skipping |= !sync_sent;
        if for_catalog {
            let reason = format!("it answered SQLSTATE {}", String::from_utf8_lossy(code));
            self.catalog_failed(&reason);
            self.waiting = Waiting::No;
            fate = Fate::Taken;
            if !sync_sent {
                // In the middle of a pipeline the server now skips: so the client hears of it here.
                if let Some(error) = self.catalog.failed.take() {
                    self.write_error("ERROR", &error, &mut out.to_client);
                }
            }
        }
        Ok(fate)
    }
}

/// What a portal's rows get, once the statement's columns are known.
fn portal_rows(portal: &Rc<Portal>) -> Option<Rc<RowPlan>> {
    if let Some(known) = portal.rows.get() {
        return Some(Rc::clone(known));
    }
    if portal.checked.is_fetch() {
        return None;
    }
    let columns = portal.statement.columns.get()?;
    let format = |index: usize| match portal.result_formats.as_slice() {
        [] => Format::Text,
        [all] => *all,
        each => each.get(index).copied().unwrap_or_default(),
    };
    let plan = Rc::new(RowPlan::new(&portal.checked, 0, columns, format));
    Some(Rc::clone(portal.rows.get_or_init(|| plan)))
}
