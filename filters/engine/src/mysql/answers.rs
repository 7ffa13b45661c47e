//! What answers the command at the head of the queue.

use fieldveil_mysql_wire::Status;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::{ColumnDefinition41, OkPacket, SessionChange};

use super::authentication::kind;
use super::pending::{Awaited, Single};
use super::rows;
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::{CallbackOutput, Session};
use crate::audit::Ended;
use crate::database::Step;

impl Session {
    /// A packet of a session that is up, or that is refused.
    pub(super) fn answer_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(entry) = self.pending.head() else {
            // It says why it goes: it is shut down, or the session was killed or idle for too long.
            if first == kind::ERROR {
                self.core.audit.note_end(Ended::Server);
                return Ok(self.pass_from_server(header, 0, out));
            }
            return Err("an answer to nothing that was asked");
        };
        match &entry.awaited {
            Awaited::End => self.last_word(header, first, rest, out),
            Awaited::Single(_) => self.single(header, first, rest, out),
            Awaited::ChangeUser(_) => self.change_user_answer(header, first, rest, out),
            Awaited::Results(_) => self.results_step(header, first, rest, out),
            Awaited::Prepare(_) => self.prepare_step(header, first, rest, out),
            Awaited::FieldList(_) => self.field_list_step(header, first, rest, out),
            Awaited::Asked(_) => self.asked_step(header, first, rest),
        }
    }

    /// The client is told why it is refused, and the session ends.
    fn last_word(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(packet) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        if matches!(first, kind::OK | kind::ERROR) {
            let number = self.client_sequence.wrapping_add(1);
            if let Some(error) = self.pending.pop().and_then(|entry| entry.refused) {
                self.write_error(&error, number, &mut out.to_client);
            }
            out.close = true;
        } else {
            self.without_password(header, out);
        }
        Ok(Step::Took(packet.len()))
    }

    /// The one packet that answers a command.
    fn single(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(packet) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let entry = self.pending.pop().ok_or(OUT_OF_PLACE)?;
        if let Some(error) = entry.refused {
            self.write_error(&error, header.sequence.wrapping_add(entry.shift), &mut out.to_client);
            return Ok(Step::Took(packet.len()));
        }
        if let Awaited::Single(single) = entry.awaited
            && first != kind::ERROR
        {
            match single {
                Single::Nothing => {}
                Single::MayChangeNames => self.names_may_change(),
                Single::Resets => self.session_reset(),
            }
        }
        Ok(self.pass_from_server(header, entry.shift, out))
    }

    fn change_user_answer(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        if matches!(first, kind::OK | kind::ERROR) {
            let entry = self.pending.pop().ok_or(OUT_OF_PLACE)?;
            let Awaited::ChangeUser(session) = entry.awaited else { return Err(OUT_OF_PLACE) };
            self.session_reset();
            if first == kind::OK {
                self.core.policy.introduce("mysql", *session, &mut self.core.audit);
                self.core.authenticated();
            }
        } else if self.heed_method(first, rest).is_none() {
            return Ok(Step::More);
        }
        Ok(self.pass_from_server(header, 0, out))
    }

    /// The definitions in answer to COM_FIELD_LIST.
    fn field_list_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(packet) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let shift = entry.shift;
        // Each definition begins with the length of its catalog's name.
        if matches!(first, kind::ERROR | kind::END) {
            drop(self.pending.pop());
            return Ok(self.pass_from_server(header, shift, out));
        }
        let Awaited::FieldList(checked) = &entry.awaited else { return Err(OUT_OF_PLACE) };
        let Some(catalog) = &checked.catalog else { return Ok(self.pass_from_server(header, shift, out)) };
        let body = packet.get(HEADER_LEN..).unwrap_or_default();
        let mut definition =
            ColumnDefinition41::parse_field_list(body, self.capabilities).map_err(|_| MALFORMED)?;
        let name = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        let (schema, table) = (name(definition.schema), name(definition.org_table));
        let field = catalog.field_named(schema, table, name(definition.org_name));
        let field = field.and_then(|(field, _)| checked.plan.fields.get(field));
        let Some(field) = field else { return Ok(self.pass_from_server(header, shift, out)) };
        rows::declare(&mut definition, field, &self.settings.values)?;
        let mut sequence = Sequence::starting_at(header.sequence.wrapping_add(shift));
        definition.encode(self.capabilities, &mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
        Ok(Step::Took(packet.len()))
    }

    /// Another database, or other settings of texts: names, or texts, may mean something else.
    pub(super) fn names_may_change(&mut self) {
        self.core.catalog.current = None;
        self.core.identity.may_change();
    }

    /// The session is as it was when the client had logged in.
    fn session_reset(&mut self) {
        self.names_may_change();
        self.statements.forget();
        self.names.forget();
        self.core.identity.words = crate::database::TokenWords::default();
    }

    /// An OK packet says what has changed in the session, where both sides have that capability.
    pub(super) fn heed_changes(&mut self, body: &[u8]) {
        let Ok(ok) = OkPacket::parse(body, self.capabilities) else { return };
        let Some(state) = ok.session_state.filter(|_| ok.status.has(Status::SESSION_STATE_CHANGED)) else {
            return;
        };
        let bears_on_reading = |change: SessionChange<'_>| match change {
            SessionChange::Schema(_) => true,
            SessionChange::SystemVariable { name, .. } => {
                matches!(name, b"character_set_client" | b"character_set_results" | b"sql_mode")
            }
            _ => false,
        };
        if state.changes().any(bears_on_reading) {
            self.names_may_change();
        }
    }
}
