//! Sealing the values of a prepared statement's parameters, also those that were sent ahead.

use std::borrow::Cow;
use std::rc::Rc;

use fieldveil_mysql_wire::WireError;
use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_mysql_wire::command::{
    Parameter, ParameterType, ParameterValue, StmtExecute, StmtSendLongData,
};
use fieldveil_mysql_wire::message::Message;
use fieldveil_mysql_wire::packet::{HEADER_LEN, Header};
use fieldveil_sql::{Form, like_pattern};
use fieldveil_values::{mysql, oid};
use zeroize::Zeroizing;

use super::client::Outcome;
use super::long_data::Ahead;
use super::seal::bad_value;
use super::statements::{ParameterPlaces, Statement};
use super::{CallbackOutput, Session};
use crate::client_error::ClientError;
use crate::database::{Checked, Place, Step, Unread, misplaced, purpose};
use crate::field::Stored;

impl Session {
    /// The execution to forward: every value in a protected place sealed.
    pub(super) fn seal_parameters(
        &mut self,
        execution: &mut StmtExecute<'_>,
        statement: &Statement,
        checked: &Rc<Checked>,
    ) -> Result<(), ClientError> {
        let places = ParameterPlaces::of(checked, statement.parameters.get());
        let given = std::mem::take(&mut execution.parameters);
        for (index, parameter) in given.into_iter().enumerate() {
            match places.protected(index) {
                None => execution.parameters.push(parameter),
                Some(place) => {
                    let sealed = self.seal_parameter(&parameter, place, index, statement, checked)?;
                    execution.parameters.extend(sealed);
                }
            }
        }
        execution.sends_types = true;
        Ok(())
    }

    fn seal_parameter(
        &mut self,
        given: &Parameter<'_>,
        parameter: &fieldveil_sql::Parameter,
        index: usize,
        statement: &Statement,
        checked: &Checked,
    ) -> Result<Vec<Parameter<'static>>, ClientError> {
        let place = Place::of(checked, parameter.field)?;
        let Place { field, stored, .. } = place;
        let count = checked.envelopes(parameter);
        let long_data = statement.long_data.borrow();
        let (code, unsigned, value): (u8, bool, &[u8]) = match &given.value {
            ParameterValue::Null => {
                place.refuse_shown(parameter.use_, None)?;
                return Ok((0..count).map(|_| sent(stored, None)).collect());
            }
            ParameterValue::Value(value) => {
                let ParameterType { column_type, unsigned } = given.parameter_type;
                (column_type.code(), unsigned, value)
            }
            ParameterValue::LongData => {
                match u16::try_from(index).ok().and_then(|index| long_data.get(index)) {
                    Some(Ahead::Kept(value)) => (ColumnType::VarString.code(), false, value),
                    _ => {
                        let limit = self.core.worker.borrow().config.limits.protected_value_bytes;
                        return Err(ClientError::long_value(&field.spec.label, limit));
                    }
                }
            }
        };
        // A string is in the client's character set, of which what is no text of UTF-8 would be read as another value.
        let is_characters = matches!(
            ColumnType::from_code(code),
            Some(
                ColumnType::VarChar
                    | ColumnType::VarString
                    | ColumnType::String
                    | ColumnType::Json
                    | ColumnType::Enum
                    | ColumnType::Set
            )
        );
        if is_characters && field.declared.oid() != oid::BYTEA {
            self.settings.text(value)?;
        }
        let settings = self.settings.values;
        let text =
            mysql::read_parameter(&field.declared, &settings, purpose(parameter.use_), code, unsigned, value)
                .map(Zeroizing::new)
                .map_err(|error| bad_value(field, &error.to_string()))?;
        place.refuse_shown(parameter.use_, Some(&text))?;
        let sealed = match parameter.form {
            Form::Value => {
                let sealed = self.core.seal(field, &text, stored, parameter.use_)?;
                vec![place.fit(parameter.use_, sealed)?]
            }
            Form::Pattern => vec![like_pattern(&self.core.seal(field, &text, stored, parameter.use_)?)],
            Form::Envelopes => self.core.seal_with_each(field, &text, stored, parameter.use_)?,
            Form::Array => return Err(misplaced()),
        };
        if sealed.len() != count {
            return Err(misplaced());
        }
        Ok(sealed.into_iter().map(|sealed| sent(stored, Some(sealed))).collect())
    }

    /// A part of a value that is sent ahead: it passes as it comes, if its place is not protected.
    pub(super) fn stream_long_data(
        &mut self,
        header: Header,
        rest: &[u8],
        out: &mut CallbackOutput,
    ) -> Option<Step> {
        const FIXED: usize = 7;
        let data_len = header.payload_len.checked_sub(FIXED)?;
        let fixed = rest.get(HEADER_LEN..)?.get(..FIXED)?;
        let data = StmtSendLongData::parse(fixed).ok()?;
        let Some(statement) = self.statements.get(data.statement).cloned() else {
            // The server passes over it, too.
            return Some(self.drop_from_client(header));
        };
        let places = ParameterPlaces::of(&statement.checked.borrow(), statement.parameters.get());
        let mut long_data = statement.long_data.borrow_mut();
        if places.protected(data.parameter.into()).is_some() || statement.said.is_token(data.parameter) {
            if !header.is_continued() {
                return None;
            }
            // Too long for any value that is sealed; the execution is refused, for this command has no answer.
            long_data.give_up(data.parameter);
            return Some(self.drop_from_client(header));
        }
        long_data.pass(data.parameter);
        let server = statement.server_id.get();
        let parameter = places.first(data.parameter);
        let step = self.pass_from_client(header);
        if server == data.statement && parameter == data.parameter {
            return Some(step);
        }
        let [a, b, c, ..] = header.payload_len.to_le_bytes();
        let [d, e, f, g] = server.to_le_bytes();
        let [h, i] = parameter.to_le_bytes();
        let command = fixed.first().copied().unwrap_or_default();
        out.to_server.extend_from_slice(&[a, b, c, header.sequence, command, d, e, f, g, h, i]);
        Some(Step::TookHead(HEADER_LEN.saturating_add(FIXED), Unread::Pass(data_len)))
    }

    /// A part of a protected value that is sent ahead: it is kept until the execution.
    pub(super) fn keep_long_data(&self, message: &Message<'_>) -> Result<Outcome, WireError> {
        let data = StmtSendLongData::parse(&message.payload)?;
        let limit = self.core.worker.borrow().config.limits.protected_value_bytes;
        if let Some(statement) = self.statements.get(data.statement) {
            statement.long_data.borrow_mut().keep(data.parameter, data.data, limit);
        }
        Ok(Outcome::Done)
    }
}

/// A sealed value as it goes to the server.
fn sent(stored: Stored, value: Option<Vec<u8>>) -> Parameter<'static> {
    let parameter_type = if stored == Stored::Raw { ParameterType::BLOB } else { ParameterType::STRING };
    let value = value.map_or(ParameterValue::Null, |value| ParameterValue::Value(Cow::Owned(value)));
    Parameter { parameter_type, name: &[], value }
}
