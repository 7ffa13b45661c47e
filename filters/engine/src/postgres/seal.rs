//! Sealing what the client sends: literals in a text, values in a Bind.

use std::borrow::Cow;
use std::rc::Rc;

use fieldveil_pg_wire::Format;
use fieldveil_pg_wire::frontend::Bind;
use fieldveil_sql::{Envelopes, Form, ParameterUse, Replacement};
use fieldveil_values::Purpose;

use super::Session;
use super::statements::Statement;
use crate::audit::Outcome;
use crate::client_error::ClientError;
use crate::database::Checked;
use crate::field::{FieldPlan, Stored};
use crate::keyring::Keyring;

impl Session {
    /// The text to forward: every literal in a protected place sealed, the rest as it came.
    pub(super) fn seal_text(&mut self, text: &[u8], checked: &Checked) -> Result<Vec<u8>, ClientError> {
        let misplaced = || ClientError::protocol("analysis and text disagree");
        let mut sealed = Vec::with_capacity(text.len().saturating_mul(2));
        let mut position = 0;
        for splice in &checked.analysis.splices {
            sealed.extend_from_slice(text.get(position..splice.range.start).ok_or_else(misplaced)?);
            match &splice.with {
                Replacement::Text(replacement) => sealed.extend_from_slice(replacement.as_bytes()),
                Replacement::Seal { field, value, use_, form: Form::Value } => {
                    let place = Place::of(checked, *field)?;
                    place.refuse_shown(*use_, Some(value.as_bytes()))?;
                    let envelope = self.seal(place.field, value.as_bytes(), place.stored, *use_)?;
                    write_literal(&mut sealed, &envelope, place.stored);
                }
                Replacement::Seal { field, value, use_, form: Form::Envelopes } => {
                    let place = Place::of(checked, *field)?;
                    let Place { field, stored, .. } = place;
                    let envelopes = self.seal_with_each(field, value.as_bytes(), stored, *use_)?;
                    write_array(&mut sealed, &array_of(envelopes.into_iter().map(Some), stored), stored);
                }
                Replacement::Seal { field, value, use_, form: Form::Array } => {
                    let place = Place::of(checked, *field)?;
                    let array = self.seal_array(place, *use_, (0, false), value.as_bytes())?;
                    write_string(&mut sealed, &array);
                }
                Replacement::Nulls { field } => {
                    let place = Place::of(checked, *field)?;
                    write_array(&mut sealed, &self.nulls(place), place.stored);
                }
                // MySQL's alone.
                Replacement::Seal { form: Form::Pattern, .. } | Replacement::Placeholders { .. } => {
                    return Err(misplaced());
                }
            }
            position = splice.range.end;
        }
        sealed.extend_from_slice(text.get(position..).ok_or_else(misplaced)?);
        Ok(sealed)
    }

    /// The Bind to forward: every value in a protected place sealed.
    pub(super) fn seal_values(
        &mut self,
        bind: &mut Bind<'_>,
        statement: &Statement,
        checked: &Checked,
    ) -> Result<(), ClientError> {
        let mut formats: Vec<Format> =
            (0..bind.values.len()).map(|index| bind.parameter_format(index)).collect();
        for parameter in &checked.analysis.parameters {
            let index = usize::from(parameter.number).saturating_sub(1);
            let too_few = || ClientError::protocol("Bind has fewer values than the statement has parameters");
            let value = bind.values.get_mut(index).ok_or_else(too_few)?;
            let place = Place::of(checked, parameter.field)?;
            let format = formats.get_mut(index).ok_or_else(too_few)?;
            let Some(clear) = value else {
                place.refuse_shown(parameter.use_, None)?;
                if parameter.form == Form::Envelopes {
                    *value = Some(Cow::Owned(self.nulls(place)));
                    *format = Format::Text;
                }
                continue;
            };
            let client_oid = statement.parameter_types.get(index).copied().unwrap_or_default();
            let binary = *format == Format::Binary;
            if parameter.form == Form::Array {
                let form = (client_oid, binary);
                *value = Some(Cow::Owned(self.seal_array(place, parameter.use_, form, clear)?));
                *format = Format::Text;
                continue;
            }
            let Place { field, stored, .. } = place;
            let text = field.read_parameter(purpose(parameter.use_), client_oid, binary, clear)?;
            place.refuse_shown(parameter.use_, Some(&text))?;
            if parameter.form == Form::Envelopes {
                let envelopes = self.seal_with_each(field, &text, stored, parameter.use_)?;
                *value = Some(Cow::Owned(array_of(envelopes.into_iter().map(Some), stored)));
                *format = Format::Text;
                continue;
            }
            *value = Some(Cow::Owned(self.seal(field, &text, stored, parameter.use_)?));
            // A text is the same bytes in either format; a bytea goes as it is.
            *format = if stored == Stored::Raw { Format::Binary } else { Format::Text };
        }
        bind.parameter_formats = formats;
        Ok(())
    }

    /// The array of what the values of an array are sealed to, as text; of values that are searched for, under each
    /// key.
    fn seal_array(
        &mut self,
        place: Place<'_>,
        use_: ParameterUse,
        (client_oid, binary): (u32, bool),
        array: &[u8],
    ) -> Result<Vec<u8>, ClientError> {
        let Place { field, stored, .. } = place;
        let each = use_ == ParameterUse::Search && self.envelopes(field) == Envelopes::Several;
        let mut elements = Vec::new();
        for element in field.read_array(purpose(use_), client_oid, binary, array)? {
            place.refuse_shown(use_, element.as_ref().map(|text| text.as_slice()))?;
            match element {
                Some(text) if each => {
                    elements.extend(self.seal_with_each(field, &text, stored, use_)?.into_iter().map(Some));
                }
                Some(text) => elements.push(Some(self.seal(field, &text, stored, use_)?)),
                None => elements.push(None),
            }
        }
        Ok(array_of(elements, stored))
    }

    fn envelopes(&self, field: &FieldPlan) -> Envelopes {
        let keys = self.core.keyring().map(|keyring| field.sealing_keys(&keyring));
        field.envelopes(&keys.unwrap_or_default())
    }

    /// An array of as many NULLs as a value of the field has envelopes: arrays within one array are of one length.
    fn nulls(&self, place: Place<'_>) -> Vec<u8> {
        let count = self.core.keyring().map_or(1, |keyring| place.field.sealing_keys(&keyring).len());
        array_of(std::iter::repeat_n(None, count), place.stored)
    }

    /// What a value is sealed to under each enabled key, under the primary one first.
    fn seal_with_each(
        &mut self,
        field: &FieldPlan,
        text: &[u8],
        stored: Stored,
        use_: ParameterUse,
    ) -> Result<Vec<Vec<u8>>, ClientError> {
        let keyring = self.keyring_for(field, text)?;
        let sealed = field.seal_with_each(&keyring, purpose(use_), text, stored)?;
        self.count_sealed(field, &keyring, use_);
        Ok(sealed)
    }

    pub(super) fn seal(
        &mut self,
        field: &FieldPlan,
        text: &[u8],
        stored: Stored,
        use_: ParameterUse,
    ) -> Result<Vec<u8>, ClientError> {
        let keyring = self.keyring_for(field, text)?;
        if use_ == ParameterUse::Search && self.envelopes(field) == Envelopes::Several {
            return Err(ClientError::several_keys(&field.spec.label, &field.spec.keyset));
        }
        let sealed = field.seal(&keyring, &mut *self.core.ports.borrow_mut(), purpose(use_), text, stored)?;
        self.count_sealed(field, &keyring, use_);
        Ok(sealed)
    }

    /// The keys, for a value that is not too long.
    fn keyring_for(&self, field: &FieldPlan, text: &[u8]) -> Result<Rc<Keyring>, ClientError> {
        let Some(keyring) = self.core.keyring() else {
            return Err(ClientError::unavailable(
                "the key agent",
                "no keyset is held",
                "Start the key agent.",
            ));
        };
        let limit = self.core.worker.borrow().config.limits.protected_value_bytes;
        if text.len() > limit {
            return Err(ClientError::long_value(&field.spec.label, limit));
        }
        Ok(keyring)
    }

    /// Counts a value that was sealed, and a use of each key that did it.
    fn count_sealed(&mut self, field: &FieldPlan, keyring: &Keyring, use_: ParameterUse) {
        let mut worker = self.core.worker.borrow_mut();
        field.uses(keyring, purpose(use_), |key| worker.count_key(key));
        drop(worker);
        let outcome = match use_ {
            ParameterUse::Store => Outcome::Sealed,
            ParameterUse::Search => Outcome::Searched,
        };
        self.core.count_sealed_value(&field.spec.label, outcome);
    }
}

/// What a value is for, in the words of the values.
fn purpose(use_: ParameterUse) -> Purpose {
    match use_ {
        ParameterUse::Store => Purpose::Store,
        ParameterUse::Search => Purpose::Search,
    }
}

/// Where a value goes.
#[derive(Clone, Copy)]
struct Place<'c> {
    field: &'c FieldPlan,
    stored: Stored,
    /// Whether what is stored there may take the place of a value.
    overwrites: bool,
}

impl<'c> Place<'c> {
    fn of(checked: &'c Checked, index: usize) -> Result<Self, ClientError> {
        let stored = checked.catalog.as_ref().and_then(|catalog| catalog.stored(index));
        let (field, stored) = checked
            .plan
            .fields
            .get(index)
            .zip(stored)
            .ok_or_else(|| ClientError::protocol("a protected place without a field"))?;
        Ok(Self { field, stored, overwrites: checked.overwrites(index) })
    }

    /// Refuses what the principal may have read in the place of the value that it would replace.
    fn refuse_shown(self, use_: ParameterUse, text: Option<&[u8]>) -> Result<(), ClientError> {
        if self.overwrites && use_ == ParameterUse::Store && self.field.shows_instead(text) {
            return Err(ClientError::shown_instead(&self.field.spec.label));
        }
        Ok(())
    }
}

/// A literal that reads the same whatever `standard_conforming_strings` is.
fn write_literal(out: &mut Vec<u8>, envelope: &[u8], stored: Stored) {
    match stored {
        Stored::Armored | Stored::Formatted => {
            out.push(b'\'');
            out.extend_from_slice(envelope);
            out.push(b'\'');
        }
        Stored::Raw => {
            write_string(out, &bytea_text(envelope));
            out.extend_from_slice(b"::bytea");
        }
    }
}

/// The text of an array of what is stored.
fn array_of(elements: impl IntoIterator<Item = Option<Vec<u8>>>, stored: Stored) -> Vec<u8> {
    let text = |element: Vec<u8>| if stored == Stored::Raw { bytea_text(&element) } else { element };
    let elements: Vec<_> = elements.into_iter().map(|element| element.map(text)).collect();
    fieldveil_values::text_array(&elements)
}

/// A literal of an array of what is stored, with its type.
fn write_array(out: &mut Vec<u8>, array: &[u8], stored: Stored) {
    write_string(out, array);
    out.extend_from_slice(match stored {
        Stored::Raw => b"::bytea[]",
        Stored::Armored | Stored::Formatted => b"::text[]",
    });
}

fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(b"E'");
    for byte in text {
        // A backslash and a quote are written twice each.
        if matches!(byte, b'\\' | b'\'') {
            out.push(*byte);
        }
        out.push(*byte);
    }
    out.push(b'\'');
}

/// The text of a `bytea`.
pub(super) fn bytea_text(bytes: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = b"\\x".to_vec();
    for byte in bytes {
        let digits = [byte >> 4, byte & 15].map(|d| HEX.get(usize::from(d)).copied().unwrap_or(b'0'));
        text.extend_from_slice(&digits);
    }
    text
}
