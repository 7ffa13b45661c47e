//! Sealing the values of a prepared statement's parameters, also those that were sent ahead (`long_data.rs`).

use std::borrow::Cow;
use std::rc::Rc;

use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_mysql_wire::command::{Parameter, ParameterType, ParameterValue, StmtExecute};
use fieldveil_sql::{Form, like_pattern};
use fieldveil_values::{mysql, oid};

use super::long_data::Ahead;
use super::seal::bad_value;
use super::sql_context::SqlContext;
use super::statements::{ParameterPlaces, Statement};
use crate::client_error::ClientError;
use crate::database::{CheckedText, Core, Place, misplaced, value_use};
use crate::field::{Clear, StoredForm};

impl SqlContext {
    /// The execution to forward: every value in a protected place sealed.
    pub fn seal_parameters(
        &self,
        core: &mut Core,
        execution: &mut StmtExecute<'_>,
        statement: &Statement,
        checked: &Rc<CheckedText>,
    ) -> Result<(), ClientError> {
        let places = ParameterPlaces::of(checked, statement.parameters.get());
        let long_data = statement.long_data.borrow();
        // The further envelopes of a parameter that is looked for under several keys, by its index.
        let mut further = Vec::new();
        for (index, parameter) in execution.parameters.iter_mut().enumerate() {
            let Some(place) = places.protected(index) else { continue };
            let ahead = u16::try_from(index).ok().and_then(|index| long_data.get(index));
            let (first, others) = self.seal_parameter(core, parameter, place, ahead, checked)?;
            *parameter = first;
            if !others.is_empty() {
                further.push((index, others));
            }
        }
        insert_behind(&mut execution.parameters, further);
        execution.sends_types = true;
        Ok(())
    }

    /// Returns what the server gets of a parameter: its value sealed, and under each further key where it is looked for.
    fn seal_parameter(
        &self,
        core: &mut Core,
        given: &Parameter<'_>,
        parameter: &fieldveil_sql::Parameter,
        ahead: Option<&Ahead>,
        checked: &CheckedText,
    ) -> Result<(Parameter<'static>, Vec<Parameter<'static>>), ClientError> {
        let place = Place::of(checked, parameter.field)?;
        let Place { field, stored, .. } = place;
        let count = checked.envelopes(parameter);
        let (code, unsigned, value): (u8, bool, &[u8]) = match &given.value {
            ParameterValue::Null => {
                place.refuse_shown(parameter.use_, None)?;
                return Ok((sent(stored, None), (1..count).map(|_| sent(stored, None)).collect()));
            }
            ParameterValue::Value(value) => {
                let ParameterType { column_type, unsigned } = given.parameter_type;
                (column_type.code(), unsigned, value)
            }
            ParameterValue::LongData => match ahead {
                Some(Ahead::Kept(value)) => (ColumnType::VarString.code(), false, value),
                _ => {
                    let limit = core.worker.borrow().config.limits.protected_value_bytes;
                    return Err(ClientError::long_value(&field.spec.label, limit));
                }
            },
        };
        // A string is in the client's character set, and bytes are what they are.
        let is_characters = matches!(
            given.parameter_type.column_type,
            ColumnType::VarChar
                | ColumnType::VarString
                | ColumnType::String
                | ColumnType::Json
                | ColumnType::Enum
                | ColumnType::Set
        );
        let value = match (is_characters, field.declared.oid()) {
            (false, _) => Cow::Borrowed(value),
            (true, oid::BYTEA) => {
                self.settings.takes_bytes(value)?;
                Cow::Borrowed(value)
            }
            (true, _) => self.settings.string(value)?,
        };
        let (settings, use_) = (self.settings.values, value_use(parameter.use_));
        let text = mysql::read_parameter(&field.declared, &settings, use_, code, unsigned, &value)
            .map(Clear::from)
            .map_err(|error| bad_value(field, &error.to_string()))?;
        place.refuse_shown(parameter.use_, Some(&text))?;
        let (first, others) = match parameter.form {
            Form::Value => {
                let sealed = core.seal(field, &text, stored, parameter.use_)?;
                (place.fit(parameter.use_, sealed)?, Vec::new())
            }
            Form::Pattern => (like_pattern(&core.seal(field, &text, stored, parameter.use_)?), Vec::new()),
            Form::Envelopes => {
                let mut sealed = core.seal_with_each(field, &text, stored, parameter.use_)?.into_iter();
                (sealed.next().ok_or_else(misplaced)?, sealed.collect())
            }
            Form::Array => return Err(misplaced()),
        };
        if others.len().saturating_add(1) != count {
            return Err(misplaced());
        }
        let others = others.into_iter().map(|sealed| sent(stored, Some(sealed))).collect();
        Ok((sent(stored, Some(first)), others))
    }
}

/// Inserts parameters behind those with these indexes.
fn insert_behind<'p>(parameters: &mut Vec<Parameter<'p>>, further: Vec<(usize, Vec<Parameter<'p>>)>) {
    if further.is_empty() {
        return;
    }
    let mut further = further.into_iter().peekable();
    for (index, parameter) in std::mem::take(parameters).into_iter().enumerate() {
        parameters.push(parameter);
        if let Some((_, others)) = further.next_if(|(behind, _)| *behind == index) {
            parameters.extend(others);
        }
    }
}

/// A sealed value as it goes to the server.
fn sent(stored: StoredForm, value: Option<Vec<u8>>) -> Parameter<'static> {
    let parameter_type = if stored == StoredForm::Raw { ParameterType::BLOB } else { ParameterType::STRING };
    let value = value.map_or(ParameterValue::Null, |value| ParameterValue::Value(Cow::Owned(value)));
    Parameter { parameter_type, name: &[], value }
}
