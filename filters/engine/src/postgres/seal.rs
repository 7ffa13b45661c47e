//! Seals what the client sends: the literals of a text and the values of a Bind.

use std::borrow::Cow;
use std::collections::HashMap;

use fieldveil_postgres_wire::Format;
use fieldveil_postgres_wire::frontend::Bind;
use fieldveil_sql::{Envelopes, Form, Operand, Parameter, ParameterUse, Replacement};
use fieldveil_values::oid;

use super::encoding::{ClientEncoding, EncodingError, has_text_elements, is_text};
use super::statements::Statement;
use crate::client_error::{ClientError, sqlstate};
use crate::database::{BatchedRows, CheckedText, Core, Place, misplaced, value_use};
use crate::field::{CompiledField, SealBatch, StoredForm};

/// Returns the text that the server gets in the place of the client's, or None if it is the same. `text` is the client's text with
/// words in the place of tokens.
pub(super) fn server_text(
    core: &mut Core,
    text: Cow<'_, [u8]>,
    checked: &CheckedText,
) -> Result<Option<Vec<u8>>, ClientError> {
    match (checked.analysis.splices.is_empty(), text) {
        (true, Cow::Borrowed(_)) => Ok(None),
        (true, Cow::Owned(rewritten)) => Ok(Some(rewritten)),
        (false, text) => seal_text(core, &text, checked).map(Some),
    }
}

/// Returns the text to forward, in which every literal in a protected place is sealed.
pub(super) fn seal_text(core: &mut Core, text: &[u8], checked: &CheckedText) -> Result<Vec<u8>, ClientError> {
    let stores_many = checked.text_stores_many();
    let write = |core: &mut Core, replacement: &Replacement, sealed: &mut BatchedRows| {
        match replacement {
            Replacement::Seal { field, value, use_, form: Form::Value } => {
                let (place, value) = (Place::of(checked, *field)?, value.as_bytes());
                place.refuse_shown(*use_, Some(value))?;
                let (at, batch) = sealed.batch();
                let envelope =
                    core.seal_or_gather(place, (value, *use_), at, Some(batch).filter(|_| stores_many))?;
                if let Some(envelope) = envelope {
                    write_literal(place.stored, &envelope, sealed.bytes())?;
                }
            }
            Replacement::Seal { field, value, use_, form: Form::Envelopes } => {
                let Place { field, stored, .. } = Place::of(checked, *field)?;
                let envelopes = core.seal_with_each(field, value.as_bytes(), stored, *use_)?;
                write_array(sealed.bytes(), &array_of(envelopes.into_iter().map(Some), stored), stored);
            }
            Replacement::Seal { field, value, use_, form: Form::Array } => {
                let place = Place::of(checked, *field)?;
                let array = seal_array(core, place, *use_, (0, false), value.as_bytes())?;
                write_string(sealed.bytes(), &array);
            }
            Replacement::Nulls { field } => {
                let place = Place::of(checked, *field)?;
                write_array(sealed.bytes(), &nulls(core, place), place.stored);
            }
            // These occur in MySQL only, or are replaced already.
            Replacement::Seal { form: Form::Pattern, .. }
            | Replacement::Placeholders { .. }
            | Replacement::Text(_) => return Err(misplaced()),
        }
        Ok(())
    };
    core.apply_splices(text, checked, write, write_literal)
}

/// Seals every value in a protected place of a Bind. Those that one field stores are sealed together.
pub(super) fn seal_values(
    core: &mut Core,
    encoding: ClientEncoding,
    bind: &mut Bind<'_>,
    (statement, checked): (&Statement, &CheckedText),
) -> Result<(), ClientError> {
    let mut batch = checked.stores_many().then(SealBatch::default);
    let read = read_values(core, encoding, bind, (statement, checked), &mut batch);
    // Those before one that is refused are sealed and counted like others.
    let sealed = batch.map_or(Ok(()), |mut batch| seal_gathered(core, bind, checked, &mut batch));
    read.and(sealed)
}

/// Seals the values of the batch, and puts them into the Bind.
fn seal_gathered(
    core: &mut Core,
    bind: &mut Bind<'_>,
    checked: &CheckedText,
    batch: &mut SealBatch,
) -> Result<(), ClientError> {
    core.seal_gathered(&checked.plan.fields, batch, |index, stored| {
        if let Some(value) = bind.values.get_mut(index) {
            *value = Some(Cow::Owned(stored));
        }
    })
}

/// Seals every value in a protected place of a Bind, or takes it out of the Bind and into the batch.
fn read_values(
    core: &mut Core,
    encoding: ClientEncoding,
    bind: &mut Bind<'_>,
    (statement, checked): (&Statement, &CheckedText),
    batch: &mut Option<SealBatch>,
) -> Result<(), ClientError> {
    let mut formats: Vec<Format> = (0..bind.values.len()).map(|index| bind.parameter_format(index)).collect();
    let foreign = foreign_types(statement, checked);
    for parameter in &checked.analysis.parameters {
        let index = usize::from(parameter.number).saturating_sub(1);
        let too_few = || ClientError::protocol("Bind has fewer values than the statement has parameters");
        let value = bind.values.get_mut(index).ok_or_else(too_few)?;
        let place = Place::of(checked, parameter.field)?;
        let format = formats.get_mut(index).ok_or_else(too_few)?;
        let Some(clear) = value else {
            place.refuse_shown(parameter.use_, None)?;
            if parameter.form == Form::Envelopes {
                *value = Some(Cow::Owned(nulls(core, place)));
                *format = Format::Text;
            }
            continue;
        };
        let client_oid = statement.parameter_types.get(index).copied().unwrap_or_default();
        let beside = foreign.get(&parameter.field).copied().filter(|_| parameter.form != Form::Array);
        let client_oid = operand_type(parameter, client_oid, beside);
        let binary = *format == Format::Binary;
        let clear = &*decoded(encoding, place.field, (client_oid, binary), clear)?;
        if parameter.form == Form::Array {
            let form = (client_oid, binary);
            *value = Some(Cow::Owned(seal_array(core, place, parameter.use_, form, clear)?));
            *format = Format::Text;
            continue;
        }
        let Place { field, stored, .. } = place;
        let text = field.read_parameter(value_use(parameter.use_), client_oid, binary, clear)?;
        place.refuse_shown(parameter.use_, Some(&text))?;
        if parameter.form == Form::Envelopes {
            let envelopes = core.seal_with_each(field, &text, stored, parameter.use_)?;
            *value = Some(Cow::Owned(array_of(envelopes.into_iter().map(Some), stored)));
            *format = Format::Text;
            continue;
        }
        let sealed = core
            .seal_or_gather(place, (&text, parameter.use_), index, batch.as_mut())
            .map_err(|error| not_text(error, clear, (type_of(field, client_oid), binary)))?;
        *value = sealed.map(Cow::Owned);
        // A text has the same bytes in both formats, and the bytes of a bytea are sent as they are.
        *format = if stored == StoredForm::Raw { Format::Binary } else { Format::Text };
        if let Some(batch) = batch.as_mut().filter(|batch| batch.is_full()) {
            seal_gathered(core, bind, checked, batch)?;
        }
    }
    bind.parameter_formats = formats;
    Ok(())
}

/// The type of a value that the client sent.
fn type_of(field: &CompiledField, client_oid: u32) -> u32 {
    if matches!(client_oid, 0 | oid::UNKNOWN) { field.declared.oid() } else { client_oid }
}

/// Returns the server's error for a value that is no text; else this one.
pub(super) fn not_text(error: ClientError, value: &[u8], (type_oid, binary): (u32, bool)) -> ClientError {
    let is_about_text = error.code == sqlstate::INVALID_TEXT_REPRESENTATION && (!binary || is_text(type_oid));
    if !is_about_text || std::str::from_utf8(value).is_ok() {
        return error;
    }
    let label = error.label.unwrap_or_default();
    EncodingError::Invalid("UTF8").about(&format!("a value for {label}")).about(&label)
}

/// Returns a value that the client sent in UTF-8, as far as it is a text.
pub(super) fn decoded<'v>(
    encoding: ClientEncoding,
    field: &CompiledField,
    (client_oid, binary): (u32, bool),
    value: &'v [u8],
) -> Result<Cow<'v, [u8]>, ClientError> {
    if encoding.is_utf8() {
        return Ok(Cow::Borrowed(value));
    }
    let label = &field.spec.label;
    let of_value = |error: EncodingError| error.about(&format!("a value for {label}")).about(label);
    let oid = type_of(field, client_oid);
    if binary && has_text_elements(value, oid) {
        return Err(of_value(EncodingError::AsciiAlone("arrays of text are not converted in binary format")));
    }
    if binary && !is_text(oid) {
        return Ok(Cow::Borrowed(value));
    }
    encoding.decode(value).map_err(of_value)
}

/// For each field, the type that the client named for a parameter of a search. It decides how the server compares the other
/// values of the same list.
fn foreign_types(statement: &Statement, checked: &CheckedText) -> HashMap<usize, u32> {
    let of = |parameter: &Parameter| {
        let index = usize::from(parameter.number).saturating_sub(1);
        let named = *statement.parameter_types.get(index)?;
        let declared = Place::of(checked, parameter.field).ok()?.field.declared.oid();
        let decides = matches!((declared, named), (oid::BPCHAR, oid::TEXT) | (oid::DATE, oid::TIMESTAMP));
        (parameter.searched && parameter.form != Form::Array && decides).then_some((parameter.field, named))
    };
    checked.analysis.parameters.iter().filter_map(of).collect()
}

/// Returns the type that a parameter is read as: the one that the client named, or else the one that the text casts it to or
/// that another value of the list gives it. 0 stands for the column's type.
fn operand_type(parameter: &Parameter, named: u32, foreign: Option<u32>) -> u32 {
    if !matches!(named, 0 | oid::UNKNOWN | oid::VARCHAR) {
        return named;
    }
    let operand = match parameter.operand {
        Operand::Text => oid::TEXT,
        Operand::Int2 => oid::INT2,
        Operand::Int4 => oid::INT4,
        Operand::Declared => match foreign {
            Some(foreign) if parameter.use_ == ParameterUse::Search && named != oid::VARCHAR => foreign,
            _ => return named,
        },
    };
    if parameter.form == Form::Array { oid::array_of(operand).unwrap_or_default() } else { operand }
}

/// Seals the values of an array, and returns the text of the array of envelopes. A value that is searched for is sealed under
/// each enabled key.
fn seal_array(
    core: &mut Core,
    place: Place<'_>,
    use_: ParameterUse,
    (client_oid, binary): (u32, bool),
    array: &[u8],
) -> Result<Vec<u8>, ClientError> {
    let Place { field, stored, .. } = place;
    let each = use_ == ParameterUse::Search && core.policy.envelopes(field) == Envelopes::Several;
    let mut elements = Vec::new();
    for element in field.read_array(value_use(use_), client_oid, binary, array)? {
        place.refuse_shown(use_, element.as_ref().map(|text| text.as_slice()))?;
        match element {
            Some(text) if each => {
                elements.extend(core.seal_with_each(field, &text, stored, use_)?.into_iter().map(Some));
            }
            Some(text) => elements.push(Some(core.seal(field, &text, stored, use_)?)),
            None => elements.push(None),
        }
    }
    Ok(array_of(elements, stored))
}

/// Returns as many NULLs as a value of the field has envelopes, because the inner arrays of an array have one length.
fn nulls(core: &Core, place: Place<'_>) -> Vec<u8> {
    array_of(std::iter::repeat_n(None, core.policy.envelope_count(place.field)), place.stored)
}

/// Writes a literal that means the same under both values of `standard_conforming_strings`.
fn write_literal(stored: StoredForm, envelope: &[u8], out: &mut Vec<u8>) -> Result<(), ClientError> {
    match stored {
        StoredForm::Armored | StoredForm::Formatted => {
            out.push(b'\'');
            out.extend_from_slice(envelope);
            out.push(b'\'');
        }
        StoredForm::Raw => {
            write_string(out, &bytea_text(envelope));
            out.extend_from_slice(b"::bytea");
        }
    }
    Ok(())
}

/// Writes the text of an array of stored values.
fn array_of(elements: impl IntoIterator<Item = Option<Vec<u8>>>, stored: StoredForm) -> Vec<u8> {
    let text = |element: Vec<u8>| if stored == StoredForm::Raw { bytea_text(&element) } else { element };
    let elements: Vec<_> = elements.into_iter().map(|element| element.map(text)).collect();
    fieldveil_values::text_array(&elements)
}

/// Writes a literal of an array of stored values, with its type.
fn write_array(out: &mut Vec<u8>, array: &[u8], stored: StoredForm) {
    write_string(out, array);
    out.extend_from_slice(match stored {
        StoredForm::Raw => b"::bytea[]",
        StoredForm::Armored | StoredForm::Formatted => b"::text[]",
    });
}

fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(b"E'");
    for byte in text {
        // A backslash and a quote are doubled.
        if matches!(byte, b'\\' | b'\'') {
            out.push(*byte);
        }
        out.push(*byte);
    }
    out.push(b'\'');
}

/// Writes the text form of a `bytea`.
pub(super) fn bytea_text(bytes: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = b"\\x".to_vec();
    for byte in bytes {
        let digits = [byte >> 4, byte & 15].map(|d| HEX.get(usize::from(d)).copied().unwrap_or(b'0'));
        text.extend_from_slice(&digits);
    }
    text
}
