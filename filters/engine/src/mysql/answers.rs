//! What answers the command at the head of the queue.

use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};

use super::authentication::kind;
use super::flight::{Awaited, Origin, Single};
use super::preparing::PrepareStage;
use super::results::{Packet, Stage};
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::{Output, Session, State};
use crate::audit::Ended;
use crate::database::Step;

impl Session {
    /// A packet of a session that is up, or that is refused.
    pub(super) fn answer_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        let Some(entry) = self.flight.head() else {
            // It says why it goes: it is shut down, or the session was killed or idle for too long.
            if first == kind::ERROR {
                self.core.ends(Ended::Server);
                return Ok(self.pass_from_server(header, 0, out));
            }
            return Err("an answer to nothing that was asked");
        };
        match &entry.awaited {
            Awaited::End => self.last_word(header, first, rest, out),
            Awaited::Single(_) => self.single(header, first, rest, out),
            Awaited::ChangeUser(_) => self.change_user_answer(header, first, out),
            Awaited::Results(_) => self.results_step(header, first, rest, out),
            Awaited::Prepare(_) => self.prepare_step(header, first, rest, out),
            Awaited::FieldList => self.field_list_step(header, first, rest, out),
        }
    }

    /// The client is told why it is refused, and the session ends.
    fn last_word(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        let Some(packet) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        if matches!(first, kind::OK | kind::ERROR) {
            let number = self.client_sequence.wrapping_add(1);
            if let Some(error) = self.flight.pop().and_then(|entry| entry.refused) {
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
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        let Some(packet) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let entry = self.flight.pop().ok_or(OUT_OF_PLACE)?;
        if let Some(error) = entry.refused {
            self.write_error(&error, header.sequence.wrapping_add(entry.shift), &mut out.to_client);
            return Ok(Step::Took(packet.len()));
        }
        if let Awaited::Single(single) = entry.awaited
            && first != kind::ERROR
        {
            self.succeeded(single);
        }
        Ok(self.pass_from_server(header, entry.shift, out))
    }

    /// A command of one packet's answer was done.
    fn succeeded(&mut self, single: Single) {
        match single {
            Single::Nothing | Single::MayChangeNames | Single::Resets => {}
        }
    }

    fn change_user_answer(
        &mut self,
        header: Header,
        first: u8,
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        if matches!(first, kind::OK | kind::ERROR) {
            let entry = self.flight.pop().ok_or(OUT_OF_PLACE)?;
            if let Awaited::ChangeUser(session) = entry.awaited
                && first == kind::OK
            {
                self.user_changed(*session);
            }
        }
        Ok(self.pass_from_server(header, 0, out))
    }

    fn results_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        let capabilities = self.capabilities;
        let entry = self.flight.head().ok_or(OUT_OF_PLACE)?;
        let (shift, origin) = (entry.shift, entry.origin);
        let Awaited::Results(answer) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        let packet = answer.results.peek(header.payload_len, first)?;
        if packet == Packet::Row {
            return Ok(self.pass_from_server(header, shift, out));
        }
        let Some(bytes) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        answer.results.take(packet, body, capabilities)?;
        match answer.results.stage {
            Stage::Done => drop(self.flight.pop()),
            Stage::Infile => self.infile = origin == Origin::Client,
            _ => {}
        }
        if matches!(self.state, State::Ready | State::Ending) && origin == Origin::Client {
            return Ok(self.pass_from_server(header, shift, out));
        }
        Ok(Step::Took(bytes.len()))
    }

    fn prepare_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        let Some(bytes) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let capabilities = self.capabilities;
        let entry = self.flight.head().ok_or(OUT_OF_PLACE)?;
        let shift = entry.shift;
        let Awaited::Prepare(prepares) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        match (prepares.stage, first) {
            (_, kind::ERROR) => prepares.stage = PrepareStage::Done,
            (PrepareStage::First, kind::OK) => {
                // Status, statement id, columns, parameters.
                let count = |at: usize| -> Option<usize> {
                    Some(u16::from_le_bytes(*body.get(at..)?.first_chunk()?).into())
                };
                let (Some(columns), Some(parameters)) = (count(5), count(7)) else { return Err(MALFORMED) };
                prepares.begin(parameters, columns);
            }
            (PrepareStage::First, _) => return Err(OUT_OF_PLACE),
            _ => prepares.advance(capabilities),
        }
        if prepares.stage == PrepareStage::Done {
            drop(self.flight.pop());
        }
        Ok(self.pass_from_server(header, shift, out))
    }

    fn field_list_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut Output,
    ) -> Result<Step, &'static str> {
        if rest.len() < header.total_len() {
            return Ok(Step::More);
        }
        let shift = self.flight.head().map_or(0, |entry| entry.shift);
        // Each definition begins with the length of its catalog's name.
        if matches!(first, kind::ERROR | kind::END) {
            drop(self.flight.pop());
        }
        Ok(self.pass_from_server(header, shift, out))
    }
}
