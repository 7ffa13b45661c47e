//! The form in which a client of PostgreSQL gets values.

use zeroize::Zeroizing;

use crate::client_error::ClientError;
use crate::database::ClientForm;
use crate::field::{CompiledField, FieldValue};
use crate::postgres::encoding::{ClientEncoding, EncodingError, has_text_elements, is_text};

/// The client's form of values: text or binary, and the encoding of texts in it.
#[derive(Clone, Copy)]
pub struct PostgresForm {
    pub binary: bool,
    pub encoding: ClientEncoding,
}

impl PostgresForm {
    /// Returns a stored value that is no envelope in UTF-8.
    pub(super) fn decode(
        &self,
        field: &CompiledField,
        value: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ClientError> {
        let decoded = self.encoding.decode(value).map_err(|error| of_stored(error, field))?;
        Ok(Zeroizing::new(decoded.into_owned()))
    }

    /// Puts the value that was written from `start` on into the client's encoding.
    pub(super) fn encode_shown(
        &self,
        field: &CompiledField,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), ClientError> {
        let oid = field.declared.oid();
        if !self.binary || is_text(oid) {
            return self.encoding.encode_tail(out, start).map_err(|error| of_stored(error, field));
        }
        // In the binary form of an array each element has its length before it.
        if has_text_elements(out.get(start..).unwrap_or_default(), oid) {
            let reason = "arrays of text are not converted in binary format";
            return Err(of_stored(EncodingError::AsciiAlone(reason), field));
        }
        Ok(())
    }
}

/// The error for a value of this field that the client cannot be given in its encoding.
fn of_stored(error: EncodingError, field: &CompiledField) -> ClientError {
    let label = &field.spec.label;
    error.about(&format!("a value of {label}")).about(label)
}

impl ClientForm for PostgresForm {
    fn plaintext(&self, field: &CompiledField, stored: FieldValue<'_>) -> Result<Zeroizing<Vec<u8>>, String> {
        field.stored_text(stored.bytes, stored.how)
    }

    fn is_canonical(&self, field: &CompiledField) -> bool {
        !self.binary && field.declared.shows_canonical()
    }

    fn encode(&self, field: &CompiledField, canonical: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        field.show_as(self.binary, canonical, out)
    }
}
