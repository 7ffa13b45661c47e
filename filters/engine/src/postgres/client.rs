//! A message from the client.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use fieldveil_pg_wire::frame::HEADER_LEN;
use fieldveil_pg_wire::frontend::{Bind, Close, Describe, Execute, Parse, Query, Target, tag};
use fieldveil_pg_wire::name::significant;
use fieldveil_pg_wire::{Header, WireError};

use super::check::Readiness;
use super::flight::{Awaited, Entry};
use super::statements::{Checked, Portal, Statement};
use super::{MAX_HELD, Output, Session, State, Step, Waiting};
use crate::client_error::ClientError;

/// What became of a message that was looked at.
enum Outcome {
    /// It is done with.
    Done,
    /// It is to be looked at again when the session no longer waits.
    Again,
}

impl Session {
    /// One step over the client's bytes.
    pub(super) fn client_step(&mut self, rest: &[u8], out: &mut Output) -> Step {
        if let State::AwaitingPolicy(_) = self.state {
            self.admit(out);
            return Step::Took(0);
        }
        if rest.is_empty() {
            return Step::More;
        }
        match self.state {
            State::Startup => return self.startup_step(rest, out),
            State::Passing => {
                self.client.pass = rest.len();
                return Step::Took(0);
            }
            State::Ending => return Step::Took(rest.len()),
            State::AwaitingPolicy(_) | State::Authenticating | State::Ready => {}
        }
        let header = match Header::peek(rest) {
            Ok(Some(header)) => header,
            Ok(None) => return Step::More,
            Err(error) => return self.broken(error, rest, out),
        };
        if !tag::is_known(header.tag) {
            self.end_session(ClientError::protocol("an unknown message type"), out);
            return Step::Took(rest.len());
        }
        if self.flight.is_full() {
            self.waiting = Waiting::Answers;
            return Step::More;
        }
        if matches!(self.state, State::Authenticating) {
            self.client.pass = header.total_len();
            return Step::Took(0);
        }
        self.ready_step(header, rest, out)
    }

    fn broken(&mut self, error: WireError, rest: &[u8], out: &mut Output) -> Step {
        self.end_session(ClientError::protocol(&error.to_string()), out);
        Step::Took(rest.len())
    }

    /// A message of a session that is up.
    fn ready_step(&mut self, header: Header, rest: &[u8], out: &mut Output) -> Step {
        match header.tag {
            tag::SYNC => {
                self.flight.push(Entry::client(Awaited::Sync));
                if self.copy_in {
                    // The server ignores it: it answers the one behind CopyDone.
                    self.flight.drop_syncs();
                }
                self.group = self.group.saturating_add(1);
                self.in_pipeline = false;
                self.skipping = false;
                return self.pass(header);
            }
            tag::TERMINATE | tag::COPY_DATA => return self.pass(header),
            tag::COPY_DONE | tag::COPY_FAIL => {
                self.copy_in = false;
                return self.pass(header);
            }
            _ if self.skipping => {
                self.client.drop = header.total_len();
                return Step::Took(0);
            }
            tag::FLUSH => return self.pass(header),
            _ => {}
        }
        let Some(message) = rest.get(..header.total_len()) else {
            return if header.body_len > MAX_HELD { self.oversized(header, rest, out) } else { Step::More };
        };
        let body = message.get(HEADER_LEN..).unwrap_or_default();
        let outcome = match header.tag {
            tag::QUERY => self.query(message, body, out),
            tag::PARSE => self.parse(message, body, out),
            tag::BIND => self.bind(message, body, out),
            tag::DESCRIBE => self.describe(message, body, out),
            tag::EXECUTE => self.execute(message, body, out),
            tag::CLOSE => self.close(message, body, out),
            tag::FUNCTION_CALL => Ok(self.function_call(message, out)),
            _ => {
                self.end_session(ClientError::protocol("a message that has no place in a session"), out);
                return Step::Took(rest.len());
            }
        };
        match outcome {
            Ok(Outcome::Done) => Step::Took(message.len()),
            Ok(Outcome::Again) => Step::More,
            Err(error) => self.broken(error, rest, out),
        }
    }

    fn pass(&mut self, header: Header) -> Step {
        self.client.pass = header.total_len();
        Step::Took(0)
    }

    /// A message too long to be held: values of a statement that touches nothing pass, all else is refused.
    fn oversized(&mut self, header: Header, rest: &[u8], out: &mut Output) -> Step {
        let body = rest.get(HEADER_LEN..).unwrap_or_default();
        let error = ClientError::limit(
            "the message is longer than the 16 MiB that are read of one",
            "Send the statement's values as parameters of a statement that names no protected table, or in parts.",
        );
        match header.tag {
            tag::BIND => {
                let (portal, name) = match Bind::peek_names(body) {
                    Ok(Some(names)) => names,
                    Ok(None) => return Step::More,
                    Err(error) => return self.broken(error, rest, out),
                };
                let statement = self.statements.statement(significant(name)).cloned();
                let untouched = statement.filter(|s| !s.checked.borrow().touched && self.is_current(s));
                if let Some(statement) = untouched {
                    let entry = self.enter_portal(portal, &statement, Vec::new());
                    self.flight.push(entry);
                    return self.pass(header);
                }
                self.refuse_bind(error, out);
            }
            tag::QUERY => {
                let checked = self.nothing_checked();
                match checked {
                    Some(checked) => self.refuse_query(error, checked, out),
                    None => self.end_session(error, out),
                }
            }
            tag::PARSE => self.refuse_parse(b"", error, out),
            _ => {
                self.end_session(error, out);
                return Step::Took(rest.len());
            }
        }
        self.client.drop = header.total_len();
        Step::Took(0)
    }

    fn nothing_checked(&self) -> Option<Rc<Checked>> {
        let plan = self.plan.clone()?;
        Some(Rc::new(Checked {
            plan,
            catalog: None,
            analysis: fieldveil_sql::Analysis::default(),
            touched: false,
        }))
    }

    fn query(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let query = Query::parse(body)?;
        let checked = match self.before_statement(out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(plan) => self.check(query.text, &plan),
        };
        let sealed = checked.and_then(|checked| {
            let text = if checked.touched { Some(self.seal_text(query.text, &checked)?) } else { None };
            Ok((checked, text))
        });
        match sealed {
            Ok((checked, text)) => {
                match text {
                    Some(text) => Query { text: &text }.encode(&mut out.to_server)?,
                    None => out.to_server.extend_from_slice(message),
                }
                self.executes(&checked);
                self.flight.push(Entry::client(Awaited::Query(checked, None)));
            }
            Err(error) => match self.nothing_checked() {
                Some(checked) => self.refuse_query(error, checked, out),
                None => self.end_session(error, out),
            },
        }
        Ok(Outcome::Done)
    }

    fn parse(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let mut parse = Parse::parse(body)?;
        let name = significant(parse.name);
        let checked = match self.before_statement(out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(_) if self.statements.is_full(name, parse.text) => Err(ClientError::limit(
                "the session holds too many prepared statements",
                "Close statements that are no longer used.",
            )),
            Readiness::Ready(plan) => self.check(parse.text, &plan),
        };
        let sealed = checked.and_then(|checked| {
            let text = if checked.touched { Some(self.seal_text(parse.text, &checked)?) } else { None };
            Ok((checked, text))
        });
        let (checked, text) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                self.refuse_parse(parse.name, error, out);
                return Ok(Outcome::Done);
            }
        };
        let statement = Rc::new(Statement {
            text: Rc::from(parse.text),
            parameter_types: parse.parameter_types.clone(),
            checked: RefCell::new(Rc::clone(&checked)),
            columns: OnceCell::new(),
            confirmed: Cell::new(false),
            group: self.group,
        });
        let undo = self.statements.set_statement(name, Some(Rc::clone(&statement)));
        match &text {
            Some(text) => {
                parse.text = text;
                // The server infers the stored type; the client's own is remembered.
                for parameter in &checked.analysis.parameters {
                    let index = usize::from(parameter.number).saturating_sub(1);
                    if let Some(oid) = parse.parameter_types.get_mut(index) {
                        *oid = 0;
                    }
                }
                parse.encode(&mut out.to_server)?;
            }
            None => out.to_server.extend_from_slice(message),
        }
        self.flight.push(Entry::client(Awaited::Parse(Some(Rc::clone(&statement)))).undo(undo));
        if checked.returns_protected() {
            // Which columns come back is asked at once: a client may execute without describing.
            Describe { target: Target::Statement, name: parse.name }.encode(&mut out.to_server)?;
            self.flight.push(Entry::injected(Awaited::DescribeStatement(Some(statement))));
        }
        self.in_pipeline = true;
        Ok(Outcome::Done)
    }

    /// Whether the statement was checked under the plan and catalog in force.
    fn is_current(&self, statement: &Statement) -> bool {
        let checked = statement.checked.borrow();
        let same_plan = self.plan.as_ref().is_some_and(|plan| Rc::ptr_eq(plan, &checked.plan));
        let same_catalog = match (&checked.catalog, &self.catalog.current) {
            (Some(a), Some(b)) => a.fingerprint == b.fingerprint,
            (None, _) => checked.plan.fields.is_empty(),
            (Some(_), None) => false,
        };
        same_plan && same_catalog
    }

    fn enter_portal(
        &mut self,
        name: &[u8],
        statement: &Rc<Statement>,
        result_formats: Vec<fieldveil_pg_wire::Format>,
    ) -> Entry {
        let portal = Portal {
            checked: Rc::clone(&statement.checked.borrow()),
            statement: Rc::clone(statement),
            result_formats,
            rows: OnceCell::new(),
        };
        let undo = self.statements.set_portal(significant(name), Some(Rc::new(portal)));
        self.in_pipeline = true;
        Entry::client(Awaited::Bind).undo(undo)
    }

    fn bind(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let mut bind = Bind::parse(body)?;
        let Some(statement) = self.statements.statement(significant(bind.statement)).cloned() else {
            let error = ClientError::unsupported(
                "this prepared statement was not prepared through the sidecar's protocol",
                "Prepare it with a Parse message on this connection.",
            );
            self.refuse_bind(error, out);
            return Ok(Outcome::Done);
        };
        if !statement.confirmed.get() && statement.group != self.group {
            // Whether the server has this statement is known only when the answers are in.
            self.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        let ready = match self.before_statement(out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(_) if self.statements.portals_full(significant(bind.portal)) => {
                Err(ClientError::limit(
                    "the session holds too many portals",
                    "Close portals that are no longer used.",
                ))
            }
            Readiness::Ready(plan) => self.recheck(&statement, &plan),
        };
        let ready = ready.and_then(|checked| match checked.analysis.parameters.as_slice() {
            [] => Ok(false),
            _ => self.seal_values(&mut bind, &statement, &checked).map(|()| true),
        });
        match ready {
            Ok(sealed) => {
                let entry = self.enter_portal(bind.portal, &statement, bind.result_formats.clone());
                match sealed {
                    true => bind.encode(&mut out.to_server)?,
                    false => out.to_server.extend_from_slice(message),
                }
                self.flight.push(entry);
            }
            Err(error) => self.refuse_bind(error, out),
        }
        Ok(Outcome::Done)
    }

    /// Checks a prepared statement anew if plan or catalog changed since. What went to the server at Parse
    /// cannot be changed any more: if it would differ now, the client must prepare again.
    fn recheck(
        &self,
        statement: &Statement,
        plan: &Rc<crate::field::CompiledPlan>,
    ) -> Result<Rc<Checked>, ClientError> {
        if self.is_current(statement) {
            return Ok(Rc::clone(&statement.checked.borrow()));
        }
        let checked = self.check(&statement.text, plan)?;
        if !checked.same_as(&statement.checked.borrow()) {
            return Err(ClientError::unsupported(
                "policy or tables changed since this statement was prepared",
                "Prepare it again.",
            ));
        }
        statement.checked.replace(Rc::clone(&checked));
        Ok(checked)
    }

    fn describe(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let describe = Describe::parse(body)?;
        let name = significant(describe.name);
        let awaited = match describe.target {
            Target::Statement => Awaited::DescribeStatement(self.statements.statement(name).cloned()),
            Target::Portal => Awaited::DescribePortal(self.statements.portal(name).cloned()),
        };
        self.forward(message, Entry::client(awaited), out);
        Ok(Outcome::Done)
    }

    fn execute(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let execute = Execute::parse(body)?;
        let portal = self.statements.portal(significant(execute.portal)).cloned();
        if let Some(portal) = &portal {
            self.executes(&portal.checked);
        }
        self.forward(message, Entry::client(Awaited::Execute(portal)), out);
        Ok(Outcome::Done)
    }

    fn close(&mut self, message: &[u8], body: &[u8], out: &mut Output) -> Result<Outcome, WireError> {
        let close = Close::parse(body)?;
        let name = significant(close.name);
        let undo = match close.target {
            Target::Statement => self.statements.set_statement(name, None),
            Target::Portal => self.statements.set_portal(name, None),
        };
        self.forward(message, Entry::client(Awaited::Close).undo(undo), out);
        Ok(Outcome::Done)
    }

    fn forward(&mut self, message: &[u8], entry: Entry, out: &mut Output) {
        out.to_server.extend_from_slice(message);
        self.flight.push(entry);
        self.in_pipeline = true;
    }

    fn function_call(&mut self, message: &[u8], out: &mut Output) -> Outcome {
        let protects = self.plan.as_ref().is_none_or(|plan| !plan.fields.is_empty());
        if protects {
            // An error of FunctionCall does not wait for Sync: it is refused as a simple query is.
            let error = ClientError::unsupported(
                "the function call message is not supported while any field is protected",
                "Call the function with SELECT.",
            );
            match self.nothing_checked() {
                Some(checked) => self.refuse_query(error, checked, out),
                None => self.end_session(error, out),
            }
        } else {
            out.to_server.extend_from_slice(message);
            self.flight.push(Entry::client(Awaited::FunctionCall));
        }
        Outcome::Done
    }
}
