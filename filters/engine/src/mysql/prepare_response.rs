//! The answer to COM_STMT_PREPARE: the statement's number, and the definitions of its parameters and columns.

use std::rc::Rc;

use fieldveil_mysql_wire::command::StmtClose;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Sequence};
use fieldveil_mysql_wire::response::{ColumnDefinition41, StmtPrepareOk};

use super::CallbackOutput;
use super::authentication::kind;
use super::errors::write_error;
use super::pending::{Forwarding, Origin, Preparing};
use super::prepare_progress::PrepareStage;
use super::responses::{Progress, ResponseContext, ServerPacket};
use super::result_sets::define;
use super::rows::{self, Columns};
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::statements::ParameterPlaces;
use crate::client_error::ClientError;
use crate::database::{Step, Waiting};

/// What happens to a packet.
enum Fate {
    /// It is forwarded.
    Pass,
    /// Another one was written in its place.
    Written,
    /// It is dropped.
    Dropped,
}

impl Preparing {
    /// Reads a packet of the response.
    pub fn read(
        &mut self,
        packet: ServerPacket<'_>,
        forwarding: &mut Forwarding,
        cx: &mut ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Progress, &'static str> {
        let Some(bytes) = packet.whole() else { return Ok(Progress::More(Step::More)) };
        let (header, shift) = (packet.header, forwarding.shift);
        let has_failed = packet.first == kind::ERROR;
        if forwarding.refused.is_some() && !has_failed {
            return Err(OUT_OF_PLACE);
        }
        let fate = match has_failed {
            true => {
                fail(forwarding.origin, cx);
                match forwarding.refused.take() {
                    Some(error) => {
                        let number = header.sequence.wrapping_add(shift);
                        write_error(cx.core, &error, number, &mut out.to_client);
                        Fate::Written
                    }
                    None => Fate::Pass,
                }
            }
            false => self.take(bytes, forwarding, cx, out)?,
        };
        let is_prepared = self.progress.stage == PrepareStage::Done;
        if is_prepared {
            self.finish(forwarding.origin, cx);
        }
        let step = match (forwarding.origin, fate) {
            (Origin::Injected, _) | (_, Fate::Written) => Step::Took(bytes.len()),
            (Origin::Client, Fate::Pass) => cx.server.pass(header, shift, out),
            (Origin::Client, Fate::Dropped) => {
                forwarding.shift = shift.wrapping_sub(1);
                Step::Took(bytes.len())
            }
        };
        Ok(if has_failed || is_prepared { Progress::Complete(step) } else { Progress::More(step) })
    }

    /// Takes a packet that is no error.
    fn take(
        &mut self,
        bytes: &[u8],
        forwarding: &Forwarding,
        cx: &ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let capabilities = cx.capabilities;
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let number = bytes.get(3).copied().unwrap_or_default().wrapping_add(forwarding.shift);
        let for_client = forwarding.origin == Origin::Client;
        let fate = match self.progress.stage {
            PrepareStage::First => return self.begin(body, number, for_client, cx, out),
            PrepareStage::Parameter(server) if for_client => self.parameter(server, body, number, cx, out)?,
            PrepareStage::Column(_) => match &mut self.columns {
                Some(columns) => {
                    match define(columns, body, capabilities, number, for_client.then_some(out))? {
                        true => Fate::Written,
                        false => Fate::Pass,
                    }
                }
                None => Fate::Pass,
            },
            PrepareStage::Parameter(_) | PrepareStage::EndOfParameters | PrepareStage::EndOfColumns => {
                Fate::Pass
            }
            PrepareStage::Done => return Err(OUT_OF_PLACE),
        };
        self.progress.advance(capabilities);
        Ok(fate)
    }

    /// Takes COM_STMT_PREPARE_OK.
    fn begin(
        &mut self,
        body: &[u8],
        number: u8,
        for_client: bool,
        cx: &ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let ok = StmtPrepareOk::parse(body, cx.capabilities).map_err(|_| MALFORMED)?;
        self.progress.begin(ok.parameters.into(), ok.columns.into());
        self.places = ParameterPlaces::of_server(&self.checked, ok.parameters.into());
        if self.checked.catalog.is_some() {
            let columns = self.progress.columns;
            self.columns = Some(Columns::new(&self.checked, &cx.sql.settings.values, Some(0), columns));
        }
        let before = self.statement.server_id.replace(ok.statement);
        if !for_client {
            let close = StmtClose { statement: before };
            close.encode(&mut Sequence::default(), &mut out.to_server).map_err(|_| MALFORMED)?;
            return Ok(Fate::Pass);
        }
        let parameters = self.places.len();
        self.statement.id.set(ok.statement);
        self.statement.parameters.set(parameters);
        if parameters == ok.parameters {
            return Ok(Fate::Pass);
        }
        let ok = StmtPrepareOk { parameters, ..ok };
        ok.encode(&mut Sequence::starting_at(number), &mut out.to_client).map_err(|_| MALFORMED)?;
        Ok(Fate::Written)
    }

    /// Takes a parameter's definition: the client gets the declared type in the place of the stored one, and one definition
    /// where the server has several in the place of one of the client's.
    fn parameter(
        &self,
        server: usize,
        body: &[u8],
        number: u8,
        cx: &ResponseContext<'_>,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let Some(client) = self.places.client(server) else { return Ok(Fate::Dropped) };
        let protected = self.places.protected(client);
        let field = protected.and_then(|parameter| self.checked.plan.fields.get(parameter.field));
        let Some(field) = field else { return Ok(Fate::Pass) };
        let mut definition = ColumnDefinition41::parse(body, cx.capabilities).map_err(|_| MALFORMED)?;
        if !rows::declare(&mut definition, field, &cx.sql.settings.values)? {
            return Ok(Fate::Pass);
        }
        let mut sequence = Sequence::starting_at(number);
        definition.encode(cx.capabilities, &mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
        Ok(Fate::Written)
    }

    /// The server has prepared the statement.
    fn finish(&mut self, origin: Origin, cx: &mut ResponseContext<'_>) {
        self.statement.checked.replace(Rc::clone(&self.checked));
        match origin {
            Origin::Client => cx.statements.prepared(&self.statement),
            Origin::Injected => cx.core.waiting = Waiting::No,
        }
    }
}

/// The server has not prepared the statement.
fn fail(origin: Origin, cx: &mut ResponseContext<'_>) {
    match origin {
        Origin::Injected => {
            cx.core.catalog.failed = Some(ClientError::unsupported(
                "keys or tables changed since this statement was prepared, and the server does not prepare it anew",
                "Prepare it again.",
            ));
            cx.core.waiting = Waiting::No;
        }
        Origin::Client => cx.statements.failed(),
    }
}
