//! The forms in which a client of PostgreSQL sends a field's values and gets them.

use fieldveil_values::{ValueUse, oid};
use zeroize::Zeroizing;

use super::{Clear, CompiledField, FieldError, StoredForm, append};

impl CompiledField {
    /// The text of a bound value, as the server would assign it to a column of the declared type or compare it
    /// with one. `client_oid` is the type that the client named in Parse, 0 for none.
    pub fn read_parameter<'b>(
        &self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &'b [u8],
    ) -> Result<Clear<'b>, FieldError> {
        let text = self.declared.parameter_text(use_, client_oid, binary, bytes);
        text.map(Clear::from).map_err(|error| self.bad_value(&error))
    }

    /// The elements of a bound array, each as [`Self::read_parameter`] gives it.
    pub fn read_array(
        &self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Vec<Option<Zeroizing<Vec<u8>>>>, FieldError> {
        let elements = self
            .declared
            .read_array_parameter(use_, client_oid, binary, bytes)
            .map_err(|error| self.bad_value(&error))?;
        Ok(elements.into_iter().map(|element| element.map(Zeroizing::new)).collect())
    }

    /// The text of a stored value that is no envelope; the error says why it is no value of the type.
    pub(crate) fn stored_text(&self, stored: &[u8], how: StoredForm) -> Result<Zeroizing<Vec<u8>>, String> {
        // The bytes of a bytea value in a bytea column are the value; of any other type they are its text.
        let is_value = how == StoredForm::Raw && self.declared.oid() == oid::BYTEA;
        let text = self.declared.read_parameter(ValueUse::Store, self.declared.oid(), is_value, stored);
        text.map(Zeroizing::new).map_err(|e| e.to_string())
    }

    /// Appends a canonical text in text or binary form; the error says why it has none.
    pub(crate) fn show_as(&self, binary: bool, canonical: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        if !binary && self.declared.shows_canonical() {
            append(out, canonical);
            return Ok(());
        }
        let shown = match binary {
            true => self.declared.encode_binary(canonical),
            false => self.declared.encode_text(canonical),
        };
        append(out, &Zeroizing::new(shown.map_err(|e| e.to_string())?));
        Ok(())
    }
}
