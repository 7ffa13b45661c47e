//! The answer to COM_STMT_PREPARE: the statement's number, and the definitions of its parameters and columns.

use fieldveil_mysql_wire::command::StmtClose;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header, Sequence};
use fieldveil_mysql_wire::response::{ColumnDefinition41, StmtPrepareOk};

use super::authentication::kind;
use super::pending::{Awaited, Origin, Preparing};
use super::preparing::PrepareStage;
use super::result_sets::define;
use super::rows::{self, Columns};
use super::server::{MALFORMED, OUT_OF_PLACE};
use super::statements::ParameterPlaces;
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::database::{Step, Waiting};

/// What becomes of a packet.
enum Fate {
    Pass,
    /// Another was written in its place.
    Written,
    /// It goes nowhere.
    Dropped,
}

impl Session {
    pub(super) fn prepare_step(
        &mut self,
        header: Header,
        first: u8,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Result<Step, &'static str> {
        let Some(bytes) = rest.get(..header.total_len()) else { return Ok(Step::More) };
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let (shift, origin) = (entry.shift, entry.origin);
        let number = header.sequence.wrapping_add(shift);
        let fate = match first {
            kind::ERROR => {
                self.prepare_failed();
                Fate::Pass
            }
            _ => self.prepare_packet(body, number, origin, out)?,
        };
        Ok(match (origin, fate) {
            (Origin::Injected, _) | (_, Fate::Written) => Step::Took(bytes.len()),
            (Origin::Client, Fate::Pass) => self.pass_from_server(header, shift, out),
            (Origin::Client, Fate::Dropped) => {
                if let Some(entry) = self.pending.head() {
                    entry.shift = entry.shift.wrapping_sub(1);
                }
                Step::Took(bytes.len())
            }
        })
    }

    fn prepare_failed(&mut self) {
        let entry = self.pending.pop();
        match entry.map(|entry| entry.origin) {
            Some(Origin::Injected) => {
                self.core.catalog.failed = Some(ClientError::unsupported(
                    "keys or tables changed since this statement was prepared, and the server does not prepare it anew",
                    "Prepare it again.",
                ));
                self.core.waiting = Waiting::No;
            }
            _ => self.statements.failed(),
        }
    }

    /// A packet of the answer.
    fn prepare_packet(
        &mut self,
        body: &[u8],
        number: u8,
        origin: Origin,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let (capabilities, values) = (self.capabilities, self.settings.values);
        let entry = self.pending.head().ok_or(OUT_OF_PLACE)?;
        let Awaited::Prepare(preparing) = &mut entry.awaited else { return Err(OUT_OF_PLACE) };
        let for_client = origin == Origin::Client;
        let mut fate = Fate::Pass;
        match preparing.prepares.stage {
            PrepareStage::First => {
                let ok = StmtPrepareOk::parse(body, capabilities).map_err(|_| MALFORMED)?;
                preparing.prepares.begin(ok.parameters.into(), ok.columns.into());
                let places = ParameterPlaces::of_server(&preparing.checked, ok.parameters.into());
                let told = places.len();
                preparing.places = places;
                if preparing.checked.catalog.is_some() {
                    let columns = preparing.prepares.columns;
                    preparing.columns = Some(Columns::new(&preparing.checked, &values, Some(0), columns));
                }
                let statement = &preparing.statement;
                let before = statement.server_id.replace(ok.statement);
                if for_client {
                    statement.id.set(ok.statement);
                    statement.parameters.set(told);
                    if told != ok.parameters {
                        let told = StmtPrepareOk { parameters: told, ..ok };
                        let mut sequence = Sequence::starting_at(number);
                        told.encode(&mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
                        fate = Fate::Written;
                    }
                } else {
                    let close = StmtClose { statement: before };
                    close.encode(&mut Sequence::default(), &mut out.to_server).map_err(|_| MALFORMED)?;
                }
            }
            PrepareStage::Parameter(server) => {
                fate = parameter(preparing, server, body, capabilities, number, out, &values, for_client)?;
                preparing.prepares.advance(capabilities);
            }
            PrepareStage::Column(_) => {
                if let Some(columns) = &mut preparing.columns
                    && define(columns, body, capabilities, number, for_client.then_some(out))?
                {
                    fate = Fate::Written;
                }
                preparing.prepares.advance(capabilities);
            }
            PrepareStage::EndOfParameters | PrepareStage::EndOfColumns => {
                preparing.prepares.advance(capabilities);
            }
            PrepareStage::Done => return Err(OUT_OF_PLACE),
        }
        if preparing.prepares.stage == PrepareStage::Done {
            self.is_prepared();
        }
        Ok(fate)
    }

    fn is_prepared(&mut self) {
        let Some(entry) = self.pending.pop() else { return };
        let Awaited::Prepare(Preparing { statement, checked, .. }) = entry.awaited else { return };
        statement.checked.replace(checked);
        match entry.origin {
            Origin::Client => self.statements.prepared(&statement),
            Origin::Injected => self.core.waiting = Waiting::No,
        }
    }
}

/// A parameter's definition: the declared type in the place of the stored one; and one, where the server has several in
/// the place of one of the client's.
#[expect(clippy::too_many_arguments, reason = "one packet in all its circumstances")]
fn parameter(
    preparing: &Preparing,
    server: usize,
    body: &[u8],
    capabilities: fieldveil_mysql_wire::Capabilities,
    number: u8,
    out: &mut CallbackOutput,
    values: &fieldveil_values::mysql::Settings,
    for_client: bool,
) -> Result<Fate, &'static str> {
    let Some(client) = preparing.places.client(server) else { return Ok(Fate::Dropped) };
    let protected = preparing.places.protected(client);
    let field = protected.and_then(|parameter| preparing.checked.plan.fields.get(parameter.field));
    let Some(field) = field.filter(|_| for_client) else { return Ok(Fate::Pass) };
    let mut definition = ColumnDefinition41::parse(body, capabilities).map_err(|_| MALFORMED)?;
    if !rows::declare(&mut definition, field, values)? {
        return Ok(Fate::Pass);
    }
    let mut sequence = Sequence::starting_at(number);
    definition.encode(capabilities, &mut sequence, &mut out.to_client).map_err(|_| MALFORMED)?;
    Ok(Fate::Written)
}
