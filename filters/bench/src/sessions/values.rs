//! The values of a customer, in clear and as they are stored: those of the load tests.

use fieldveil_engine::Random;
use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::field::{CompiledField, FieldValue, Scratch, StoredForm};
use fieldveil_engine::keyring::Keyring;
use fieldveil_plan::Plan;
use fieldveil_values::ValueUse;
use serde_json::json;

use super::world::{KEYSET, plan};
use crate::keys::keyring;

/// The protected columns, and how each is protected.
pub(super) const PROTECTED: [(&str, &str); 3] =
    [("email", "deterministic"), ("ssn", "deterministic"), ("phone", "randomized")];
/// What an envelope in a text begins with.
const ENVELOPE: &[u8] = b"fv1.";
/// The same in hexadecimal digits.
const ENVELOPE_DIGITS: &[u8] = b"6676312e";

/// Rows of a statement that inserts many.
pub(super) const ROWS: u32 = 20;
/// Values of their five columns.
pub(super) const PARAMETERS: u16 = 100;

/// How a principal gets protected values.
pub(super) const REVEALED: &str = "reveal";
/// As they are stored.
pub(super) const CONCEALED: &str = "conceal";

/// The fields of a plan for a table of this schema, which the principal gets so.
pub(super) fn fields(schema: &str, type_name: &str, treatment: &str) -> Vec<serde_json::Value> {
    let field = |(column, protection): (&str, &str)| {
        json!({"relation": format!("{schema}.customer"), "column": column, "label": format!("customer.{column}"),
            "keyset": KEYSET, "tenant": "", "protection": protection, "type": type_name,
            "read": {"treatment": treatment}, "write": "seal"})
    };
    PROTECTED.map(field).to_vec()
}

/// The protected values of a row.
pub(super) fn clear(row: u32) -> [Vec<u8>; 3] {
    let digits = row.wrapping_mul(7919).wrapping_add(104_729);
    let (ssn, phone) = (digits.checked_rem(10_000).unwrap_or(0), digits.checked_rem(10_000_000).unwrap_or(0));
    [format!("u{row}@example.com"), format!("078-05-{ssn:04}"), format!("+1 555 {phone:07}")]
        .map(String::into_bytes)
}

/// The protected values of so many rows, each with its column's place in [`PROTECTED`].
pub(super) fn of_rows(rows: u32) -> Vec<(usize, Vec<u8>)> {
    (0..rows).flat_map(|row| clear(row).into_iter().enumerate()).collect()
}

/// The values of all five columns of so many rows.
pub(super) fn parameters(rows: u32) -> Vec<Vec<u8>> {
    let row = |row: u32| {
        let own = [row.to_string(), format!("name {row}")].map(String::into_bytes);
        own.into_iter().chain(clear(row))
    };
    (0..rows).flat_map(row).collect()
}

/// The text of an INSERT of so many rows with their protected columns alone: with more literals it would be parsed each time.
pub(super) fn insert_text(rows: u32) -> String {
    let row = |row| clear(row).map(|value| format!("'{}'", String::from_utf8_lossy(&value))).join(", ");
    let rows: Vec<String> = (0..rows).map(|number| format!("({})", row(number))).collect();
    format!("INSERT INTO customer (email, ssn, phone) VALUES {}", rows.join(", "))
}

/// What stands in a file in hexadecimal digits between tabs, as envelopes; the rest as it is.
pub(super) fn from_hexadecimal(file: &[u8]) -> Vec<u8> {
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap_or(""), 16).unwrap_or(0);
    let field = |field: &[u8]| match field.starts_with(ENVELOPE_DIGITS) {
        true => field.chunks(2).map(byte).collect(),
        false => field.to_vec(),
    };
    let fields = file.split(|byte| matches!(byte, b'\t' | b'\n')).map(field);
    fields.collect::<Vec<_>>().join(&b'\n')
}

/// Seals and opens as the filter does, apart from any session.
pub(super) struct Sealer {
    plan: CompiledPlan,
    keyring: Keyring,
}

impl Sealer {
    /// For the fields of [`PROTECTED`].
    pub(super) fn new() -> Result<Self, String> {
        let answer = json!({ "result": plan(&fields("public", "text", REVEALED), None) }).to_string();
        let plan = Plan::from_json(answer.as_bytes()).map_err(|error| error.to_string())?;
        let plan = CompiledPlan::new(plan).map_err(|error| error.to_string())?;
        Ok(Self { plan, keyring: keyring()? })
    }

    /// The protected values of a row as they are stored.
    pub(super) fn stored(&self, row: u32, random: &mut dyn Random) -> Result<Vec<Vec<u8>>, String> {
        let sealed = self.plan.fields.iter().zip(clear(row)).map(|(field, value)| {
            let (value, scratch) = (armored(&value), &mut Scratch::default());
            let mut sealed = Vec::new();
            field
                .seal_into(&self.keyring, random, ValueUse::Store, value, usize::MAX, scratch, &mut sealed)
                .map_err(|error| error.to_string())?;
            Ok(sealed)
        });
        sealed.collect()
    }

    fn opens_to(&self, field: &CompiledField, envelope: &[u8], value: &[u8]) -> bool {
        let plaintext = || Err("it is no envelope".to_owned());
        let (mut scratch, mut text) = (Scratch::default(), Vec::new());
        field
            .read_text(&field.read, &self.keyring, armored(envelope), plaintext, &mut scratch, &mut text)
            .is_ok_and(|shown| !shown.is_null && text == value)
    }

    /// That there are as many envelopes in these bytes as here are fields, by their place in [`PROTECTED`], that each
    /// opens to the value, and that none of the values stands there.
    pub(super) fn check(&self, bytes: &[u8], expected: &[(usize, Vec<u8>)]) -> Result<(), String> {
        let envelopes = envelopes(bytes);
        if envelopes.len() != expected.len() {
            return Err(format!("{} values are sealed where {} should be", envelopes.len(), expected.len()));
        }
        for (envelope, (field, value)) in envelopes.iter().zip(expected) {
            let field = self.plan.fields.get(*field).ok_or("there is no such field")?;
            // Behind one in MySQL's packets stands the next value's length, which may be a letter, and its `fv1`.
            let opens = |envelope: &[u8]| self.opens_to(field, envelope, value);
            let mut shorter = (0..=4).map(|less| envelope.get(..envelope.len().saturating_sub(less)));
            if !shorter.any(|envelope| envelope.is_some_and(opens)) {
                return Err("what was sealed is another value".to_owned());
            }
            if holds(bytes, value) {
                return Err("a protected value left in clear".to_owned());
            }
        }
        Ok(())
    }
}

/// In a column of text.
fn armored(bytes: &[u8]) -> FieldValue<'_> {
    FieldValue { bytes, how: StoredForm::Armored }
}

/// Every armored envelope in the bytes, in order.
fn envelopes(bytes: &[u8]) -> Vec<Vec<u8>> {
    let letters = |from: usize| {
        let letters = bytes.iter().skip(from).skip(ENVELOPE.len());
        letters.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).copied()
    };
    let starts = bytes.windows(ENVELOPE.len()).enumerate().filter(|(_, window)| *window == ENVELOPE);
    starts.map(|(from, _)| ENVELOPE.iter().copied().chain(letters(from)).collect()).collect()
}

/// Whether `needle` stands anywhere in `haystack`.
pub(super) fn holds(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len().max(1)).any(|window| window == needle)
}
