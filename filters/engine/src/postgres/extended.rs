//! The extended protocol's messages from the client: statements, portals, and what is known of them. Execute is in
//! `portals.rs`, what names a statement or cursor of SQL's in `sql_named.rs`, and Sync and Flush in `client.rs`.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_postgres_wire::frontend::{Bind, BindOutline, Close, Describe, Parse, Target};
use fieldveil_postgres_wire::name::significant;
use fieldveil_postgres_wire::{Format, WireError};

use super::check::{Readiness, ReadyText};
use super::client::Outcome;
use super::end_user::identify_values;
use super::pending::{Awaited, PendingResponse};
use super::refuse::may_copy_from_client;
use super::seal::{seal_text, seal_values, server_text};
use super::statements::{Portal, Statement};
use super::{CallbackOutput, ReadySession, Waiting};
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::database::{CheckedText, Core};

/// A prepared statement that may be executed.
pub(super) enum Rechecked {
    /// As the server has it.
    Same(Rc<CheckedText>),
    /// In another form, for keys or tables have changed.
    Anew(Rc<CheckedText>),
}

impl ReadySession {
    pub(super) fn parse(
        &mut self,
        message: &[u8],
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let mut parse = Parse::parse(body)?;
        let name = significant(parse.name);
        if self.is_unconfirmed(name, core) && !name.is_empty() {
            core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        let encoding = self.settings.encoding.now();
        let read = self.settings.read_statement(parse.text);
        // Tokens become words, and what is not known yet of identity, plan, keys and catalog is asked for.
        let ready = match self.ready_text(&read, core, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(ready) if self.statements.is_full(name, &ready.text, &ready.said) => {
                Err(ClientError::limit(
                    "the session holds too many prepared statements",
                    "Close statements that are no longer used.",
                ))
            }
            Readiness::Ready(ready) => Ok(ready),
        };
        // The text is checked against plan and catalog.
        let checked = ready.and_then(|ready| Ok((self.check_text(&ready.text, &ready.plan, core)?, ready)));
        // Its literals in protected places are sealed.
        let sealed = checked.and_then(|(checked, ready)| {
            core.memory.may_keep()?;
            // The server infers the types of sealed parameters, which the client's message may name.
            let seals_parameters = !checked.analysis.parameters.is_empty();
            let text = server_text(core, ready.text.clone(), &checked)?
                .or_else(|| seals_parameters.then(|| ready.text.to_vec()));
            Ok((encoding.encode_statement(text)?, checked, ready))
        });
        let (text, checked, ReadyText { text: own, said, plan: _ }) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                self.copies.rows_may_follow |= may_copy_from_client(&read);
                self.refuse_by_parse(parse.name, error, core, out);
                return Ok(Outcome::Done);
            }
        };
        let own = (Rc::from(own.as_ref()), said);
        let place = (name.len(), self.pipeline.number(), core.memory.weight(0));
        let statement = Statement::new(own, Rc::clone(&checked), parse.parameter_types.clone(), place);
        let undo = self.statements.set_statement(name, Some(Rc::clone(&statement)));
        let asks = asks_columns(&checked);
        match &text {
            Some(text) => {
                parse.text = text;
                parse.parameter_types = statement.server_types();
                parse.encode(&mut out.to_server)?;
            }
            None if asks => out.to_server.extend_from_slice(message),
            None => {}
        }
        self.pending.push(PendingResponse::client(Awaited::Parse(Some(Rc::clone(&statement)))).undo([undo]));
        self.ask_columns(parse.name, &statement, out)?;
        self.pipeline.open();
        Ok(if text.is_none() && !asks { Outcome::Passes } else { Outcome::Done })
    }

    /// Which columns come back is asked at once: a client may execute without describing.
    fn ask_columns(
        &mut self,
        name: &[u8],
        statement: &Rc<Statement>,
        out: &mut CallbackOutput,
    ) -> Result<(), WireError> {
        if asks_columns(&statement.checked.borrow()) {
            Describe { target: Target::Statement, name }.encode(&mut out.to_server)?;
            self.pending
                .push(PendingResponse::injected(Awaited::DescribeStatement(Some(Rc::clone(statement)))));
        }
        Ok(())
    }

    /// Whether it is open yet if the server has this statement: its Parse went before an earlier Sync and is
    /// not answered. Within one group an error takes all that follows with it. What else is in flight tells
    /// nothing: it may lack its Sync, which the client sends only behind the message that would wait.
    fn is_unconfirmed(&self, name: &[u8], core: &Core) -> bool {
        self.statements.statement(name).is_some_and(|statement| self.lacks_answer(statement, core))
    }

    fn lacks_answer(&self, statement: &Rc<Statement>, core: &Core) -> bool {
        !statement.confirmed.get()
            && statement.group.get() != self.pipeline.number()
            && self.pending.parses(statement)
            && core.policy.protects()
    }

    /// Whether the statement was checked under the plan and catalog in force.
    pub(super) fn is_current(&self, statement: &Statement, core: &Core) -> bool {
        let checked = statement.checked.borrow();
        let same_plan = core.policy.plan.as_ref().is_some_and(|plan| Arc::ptr_eq(plan, &checked.plan));
        let same_catalog = match (&checked.catalog, &core.catalog.current) {
            (Some(a), Some(b)) => a.fingerprint == b.fingerprint,
            (None, _) => checked.plan.fields.is_empty(),
            (Some(_), None) => false,
        };
        same_plan && same_catalog
    }

    pub(super) fn enter_portal(
        &mut self,
        name: &[u8],
        statement: &Rc<Statement>,
        result_formats: Vec<Format>,
    ) -> PendingResponse {
        let checked = Rc::clone(&statement.checked.borrow());
        let portal = Portal::open(significant(name).to_vec(), statement, checked, result_formats);
        let undo = self.statements.bind_portal(&portal);
        self.pipeline.open();
        PendingResponse::client(Awaited::Bind(Some(portal))).undo(undo)
    }

    pub(super) fn bind(
        &mut self,
        message: &[u8],
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Outcome, WireError> {
        let bind = BindOutline::parse(body)?;
        let Some(statement) = self.statements.statement(significant(bind.statement)).cloned() else {
            return self.bind_prepared_in_sql((bind, body), core, out);
        };
        if self.lacks_answer(&statement, core) {
            core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        // What failed to be parsed anew, with the statement before it, is tried again.
        let lost = !statement.confirmed.get() && statement.group.get() != self.pipeline.number();
        if lost && !statement.parsed_anew.get() {
            let error = ClientError::unsupported("preparing this statement failed", "Prepare it again.");
            self.refuse_extended_message(error, core, out);
            return Ok(Outcome::Done);
        }
        let ready = match self.before_statement(&statement.text, &statement.said.comment, core, out) {
            Readiness::Wait => return Ok(Outcome::Again),
            Readiness::Refuse(error) => Err(error),
            Readiness::Ready(_) if self.statements.portals_full(significant(bind.portal)) => {
                Err(ClientError::too_many_portals())
            }
            Readiness::Ready(plan) => {
                core.memory.may_open().and_then(|()| self.recheck(&statement, &plan, core))
            }
        };
        let ready = ready.and_then(|rechecked| {
            let anew = lost || matches!(rechecked, Rechecked::Anew(_));
            let (Rechecked::Same(checked) | Rechecked::Anew(checked)) = rechecked;
            let encoding = self.settings.encoding.now();
            if anew {
                self.settings.reads_alike(&statement.text)?;
            }
            let text = anew.then(|| seal_text(core, &statement.text, &checked)).transpose()?;
            let text = encoding.encode_statement(text)?;
            let seals = !checked.analysis.parameters.is_empty();
            if !seals && !statement.said.reads_parameters() {
                return Ok((checked, text, None));
            }
            let mut whole = Bind::parse(body).map_err(|error| ClientError::protocol(&error.to_string()))?;
            if seals {
                seal_values(core, encoding, &mut whole, (&statement, &checked))?;
            }
            let named =
                statement.said.reads_parameters() && identify_values(core, &mut whole, &statement.said)?;
            Ok((checked, text, (seals || named).then_some(whole)))
        });
        match ready {
            Ok((checked, text, sealed)) => {
                statement.checked.replace(checked);
                if let Some(text) = text {
                    self.parse_anew(bind.statement, &statement, &text, out)?;
                }
                let is_fetch = statement.checked.borrow().is_fetch();
                match &sealed {
                    Some(sealed) => sealed.encode(&mut out.to_server)?,
                    None if is_fetch => out.to_server.extend_from_slice(message),
                    None => {}
                }
                let entry = self.enter_portal(bind.portal, &statement, bind.result_formats);
                self.pending.push(entry);
                if is_fetch {
                    // What a cursor's rows hold is asked each time: another may have its name now.
                    Describe { target: Target::Portal, name: bind.portal }.encode(&mut out.to_server)?;
                    let portal = self.statements.portal(significant(bind.portal)).cloned();
                    self.pending.push(PendingResponse::injected(Awaited::DescribePortal(portal)));
                } else if sealed.is_none() {
                    return Ok(Outcome::Passes);
                }
            }
            Err(error) => self.refuse_extended_message(error, core, out),
        }
        Ok(Outcome::Done)
    }

    /// Puts the statement that the server has under a name in the form that it takes under the keys and tables of now. The
    /// client's Bind comes right behind, so an error is its error.
    fn parse_anew(
        &mut self,
        name: &[u8],
        statement: &Rc<Statement>,
        text: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<(), WireError> {
        if !significant(name).is_empty() {
            Close { target: Target::Statement, name }.encode(&mut out.to_server)?;
            self.pending.push(PendingResponse::injected(Awaited::Close));
        }
        let parameter_types = statement.server_types();
        Parse { name, text, parameter_types }.encode(&mut out.to_server)?;
        self.pending.push(PendingResponse::injected(Awaited::Parse(Some(Rc::clone(statement)))));
        self.ask_columns(name, statement, out)?;
        statement.confirmed.set(false);
        statement.group.set(self.pipeline.number());
        statement.parsed_anew.set(true);
        self.pipeline.open();
        Ok(())
    }

    /// Checks a prepared statement anew if plan, catalog or keys changed since. What went to the server at Parse
    /// cannot be changed any more: if it would differ now, it must be parsed anew. Where what the client was told of the
    /// statement stays true, as it does when the keys alone changed, that is done here; else it must prepare again.
    pub(super) fn recheck(
        &self,
        statement: &Statement,
        plan: &Arc<CompiledPlan>,
        core: &Core,
    ) -> Result<Rechecked, ClientError> {
        if self.is_current(statement, core) && !statement.checked.borrow().goes_by_name() {
            core.policy.require_keys(&statement.checked.borrow())?;
            core.within_budgets(&statement.checked.borrow())?;
            return Ok(Rechecked::Same(Rc::clone(&statement.checked.borrow())));
        }
        let checked = self.check_text(&statement.text, plan, core)?;
        let before = statement.checked.borrow();
        if !checked.shows_types_as(&before) {
            return Err(ClientError::other_result_types());
        }
        if !checked.is_sent_as(&before) {
            if checked.is_described_as(&before) && !checked.goes_by_name() {
                return Ok(Rechecked::Anew(checked));
            }
            return Err(ClientError::unsupported(
                "policy, tables or what a name stands for changed since this statement was prepared",
                "Prepare it again.",
            ));
        }
        Ok(Rechecked::Same(checked))
    }

    pub(super) fn describe(&mut self, body: &[u8]) -> Result<Outcome, WireError> {
        let describe = Describe::parse(body)?;
        let name = significant(describe.name);
        let awaited = match describe.target {
            Target::Statement => Awaited::DescribeStatement(self.statements.statement(name).cloned()),
            Target::Portal => Awaited::DescribePortal(self.statements.portal(name).cloned()),
        };
        Ok(self.forward(PendingResponse::client(awaited)))
    }

    pub(super) fn close(&mut self, body: &[u8], core: &mut Core) -> Result<Outcome, WireError> {
        let close = Close::parse(body)?;
        let name = significant(close.name);
        if close.target == Target::Statement && self.is_unconfirmed(name, core) {
            core.waiting = Waiting::Answers;
            return Ok(Outcome::Again);
        }
        let undo = match close.target {
            Target::Statement => self.statements.close_statement(name),
            Target::Portal => self.statements.close_portal(name).collect(),
        };
        Ok(self.forward(PendingResponse::client(Awaited::Close).undo(undo)))
    }

    /// The message goes on as it came.
    pub(super) fn forward(&mut self, entry: PendingResponse) -> Outcome {
        self.pending.push(entry);
        self.pipeline.open();
        Outcome::Passes
    }
}

/// Whether the server is to be asked which columns come back.
fn asks_columns(checked: &CheckedText) -> bool {
    checked.returns_protected() && !checked.is_fetch() && checked.copy().is_none()
}
