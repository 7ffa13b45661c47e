//! Sealing what the client sends as text: each literal in a protected place.

use std::fmt::Write;

use fieldveil_sql::{Form, Replacement, like_pattern};
use fieldveil_values::mysql::{self, Settings};
use fieldveil_values::{ValueUse, oid};
use zeroize::Zeroizing;

use super::sql_context::SqlContext;
use crate::client_error::ClientError;
use crate::database::{BatchedRows, CheckedText, Core, Place, misplaced, value_use};
use crate::field::{CompiledField, StoredForm};

impl SqlContext {
    /// The text to forward, in UTF-8: every literal in a protected place sealed, the rest as it came.
    pub fn seal_text(
        &self,
        core: &mut Core,
        text: &[u8],
        checked: &CheckedText,
    ) -> Result<Vec<u8>, ClientError> {
        let settings = self.settings.values;
        let stores_many = checked.text_stores_many();
        let write = |core: &mut Core, replacement: &Replacement, out: &mut BatchedRows| match replacement {
            Replacement::Seal { field, value, use_, form } => {
                let place = Place::of(checked, *field)?;
                let Place { field, stored, .. } = place;
                if field.declared.oid() != oid::BYTEA {
                    self.settings.must_hold(value)?;
                }
                let text = read_literal(field, &settings, value_use(*use_), value.as_bytes())?;
                place.refuse_shown(*use_, Some(&text))?;
                match form {
                    Form::Value => {
                        let (at, batch) = out.batch();
                        let batch = Some(batch).filter(|_| stores_many);
                        if let Some(sealed) = core.seal_or_gather(place, (&text, *use_), at, batch)? {
                            write_literal(stored, &place.fit(*use_, sealed)?, out.bytes())?;
                        }
                    }
                    Form::Pattern => {
                        let sealed = core.seal(field, &text, stored, *use_)?;
                        write_literal(stored, &like_pattern(&sealed), out.bytes())?;
                    }
                    Form::Envelopes => {
                        for (index, sealed) in
                            core.seal_with_each(field, &text, stored, *use_)?.iter().enumerate()
                        {
                            if index > 0 {
                                out.bytes().extend_from_slice(b", ");
                            }
                            write_literal(stored, sealed, out.bytes())?;
                        }
                    }
                    Form::Array => return Err(misplaced()),
                }
                Ok(())
            }
            Replacement::Placeholders { field } => {
                let place = Place::of(checked, *field)?;
                let count = core.policy.envelope_count(place.field).max(1);
                out.bytes().extend_from_slice(vec!["?"; count].join(", ").as_bytes());
                Ok(())
            }
            Replacement::Nulls { .. } | Replacement::Text(_) => Err(misplaced()),
        };
        core.apply_splices(text, checked, write, write_literal)
    }
}

/// The canonical text of a literal.
fn read_literal(
    field: &CompiledField,
    settings: &Settings,
    use_: ValueUse,
    value: &[u8],
) -> Result<Zeroizing<Vec<u8>>, ClientError> {
    let read = mysql::read_literal(&field.declared, settings, use_, value);
    read.map(Zeroizing::new).map_err(|error| bad_value(field, &error.to_string()))
}

/// A value is not of the declared type.
pub(super) fn bad_value(field: &CompiledField, reason: &str) -> ClientError {
    ClientError::bad_value(&field.spec.label, reason, &field.spec.type_name)
}

/// A literal that reads the same in every sql_mode.
fn write_literal(stored: StoredForm, sealed: &[u8], out: &mut Vec<u8>) -> Result<(), ClientError> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'\'' | b'\\' | b'"');
    if stored != StoredForm::Raw && sealed.iter().all(is_plain) {
        out.push(b'\'');
        out.extend_from_slice(sealed);
        out.push(b'\'');
        return Ok(());
    }
    let mut literal = String::from(if stored == StoredForm::Raw { "x'" } else { "_utf8mb4 x'" });
    for byte in sealed {
        let _ = write!(literal, "{byte:02x}");
    }
    literal.push('\'');
    out.extend_from_slice(literal.as_bytes());
    Ok(())
}
