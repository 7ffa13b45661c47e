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
use crate::field::{Clear, SealBatch, StoredForm};

impl SqlContext {
    /// The execution to forward: every value in a protected place sealed.
    pub fn seal_parameters(
        &self,
        core: &mut Core,
        execution: &mut StmtExecute<'_>,
        statement: &Statement,
        checked: &Rc<CheckedText>,
    ) -> Result<(), ClientError> {
        let mut batch = checked.stores_many().then(SealBatch::default);
        let read = self.read_parameters(core, execution, statement, checked, &mut batch);
        // Those before one that is refused are sealed and counted like others.
        let sealed = batch.map_or(Ok(()), |mut batch| seal_gathered(core, execution, checked, &mut batch));
        let further = read?;
        sealed?;
        insert_behind(&mut execution.parameters, further);
        execution.sends_types = true;
        Ok(())
    }

    /// Seals every value in a protected place, or takes it out of the execution and into the batch. Returns the further
    /// envelopes of parameters that are looked for under several keys, by their indexes.
    fn read_parameters(
        &self,
        core: &mut Core,
        execution: &mut StmtExecute<'_>,
        statement: &Statement,
        checked: &Rc<CheckedText>,
        batch: &mut Option<SealBatch>,
    ) -> Result<Vec<(usize, Vec<Parameter<'static>>)>, ClientError> {
        let places = ParameterPlaces::of(checked, statement.parameters.get());
        let long_data = statement.long_data.borrow();
        let mut further = Vec::new();
        for index in 0..execution.parameters.len() {
            let Some(place) = places.protected(index) else { continue };
            let Some(parameter) = execution.parameters.get_mut(index) else { continue };
            let ahead = u16::try_from(index).ok().and_then(|index| long_data.get(index));
            let gathering = (index, batch.as_mut());
            let (first, others) = self.seal_parameter(core, parameter, place, ahead, checked, gathering)?;
            *parameter = first;
            if !others.is_empty() {
                further.push((index, others));
            }
            if let Some(batch) = batch.as_mut().filter(|batch| batch.is_full()) {
                seal_gathered(core, execution, checked, batch)?;
            }
        }
        Ok(further)
    }

    /// Returns what the server gets of a parameter: its value sealed, and under each further key where it is looked for. A
    /// value that waits in the batch is NULL until it is sealed.
    fn seal_parameter(
        &self,
        core: &mut Core,
        given: &Parameter<'_>,
        parameter: &fieldveil_sql::Parameter,
        ahead: Option<&Ahead>,
        checked: &CheckedText,
        (index, batch): (usize, Option<&mut SealBatch>),
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
                    let limit = core.worker.borrow().config().limits.protected_value_bytes;
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
                let sealed = core.seal_or_gather(place, (&text, parameter.use_), index, batch)?;
                (sealed.map(|sealed| place.fit(parameter.use_, sealed)).transpose()?, Vec::new())
            }
            Form::Pattern => {
                (Some(like_pattern(&core.seal(field, &text, stored, parameter.use_)?)), Vec::new())
            }
            Form::Envelopes => {
                let mut sealed = core.seal_with_each(field, &text, stored, parameter.use_)?.into_iter();
                (Some(sealed.next().ok_or_else(misplaced)?), sealed.collect())
            }
            Form::Array => return Err(misplaced()),
        };
        if others.len().saturating_add(1) != count {
            return Err(misplaced());
        }
        let others = others.into_iter().map(|sealed| sent(stored, Some(sealed))).collect();
        Ok((sent(stored, first), others))
    }
}

/// Seals the values of the batch, and puts them into the execution.
fn seal_gathered(
    core: &mut Core,
    execution: &mut StmtExecute<'_>,
    checked: &CheckedText,
    batch: &mut SealBatch,
) -> Result<(), ClientError> {
    core.seal_gathered(&checked.plan.fields, batch, |index, stored| {
        if let Some(parameter) = execution.parameters.get_mut(index) {
            parameter.value = ParameterValue::Value(Cow::Owned(stored));
        }
    })
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
