//! The form in which a client of MySQL gets values.

use std::borrow::Cow;

use fieldveil_mysql_wire::column_type::ColumnType;
use fieldveil_tink::reserve_wiping;
use fieldveil_values::mysql::{self, Settings};
use fieldveil_values::{ValueUse, oid};
use zeroize::Zeroizing;

use crate::database::ClientForm;
use crate::field::{CompiledField, FieldValue, StoredForm};

/// As it stands in a row, text or binary.
pub struct MySqlForm<'s> {
    pub settings: &'s Settings,
    pub binary: bool,
}

impl ClientForm for MySqlForm<'_> {
    fn plaintext(&self, field: &CompiledField, stored: FieldValue<'_>) -> Result<Zeroizing<Vec<u8>>, String> {
        let code = ColumnType::VarString.code();
        // Characters have come in the character set of results, bytes as they are.
        let is_characters = stored.how != StoredForm::Raw && field.declared.oid() != oid::BYTEA;
        let stored = match is_characters {
            true => self.settings.results.decode(stored.bytes),
            false => Cow::Borrowed(stored.bytes),
        };
        let text =
            mysql::read_parameter(&field.declared, self.settings, ValueUse::Store, code, false, &stored);
        text.map(|text| Zeroizing::new(text.into_owned())).map_err(|e| e.to_string())
    }

    fn is_canonical(&self, field: &CompiledField) -> bool {
        mysql::shows_canonical(&field.declared, self.settings)
    }

    fn check_canonical(&self, canonical: &[u8]) -> Result<(), String> {
        mysql::check_canonical(canonical).map_err(|error| error.to_string())
    }

    fn encode(&self, field: &CompiledField, canonical: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        // As many bytes as a string of it takes, with its length.
        reserve_wiping(out, canonical.len().saturating_add(9));
        let encode = if self.binary { mysql::encode_binary_to } else { mysql::encode_text_to };
        encode(&field.declared, self.settings, canonical, out).map_err(|e| e.to_string())
    }
}
