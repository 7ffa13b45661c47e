//! What is measured: a protection, its key, how it is stored, and a value's length.

use fieldveil_engine::Random;
use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::field::{CompiledField, FieldValue, Scratch, StoredForm};
use fieldveil_engine::keyring::Keyring;
use fieldveil_plan::Plan;
use fieldveil_values::ValueUse;
use serde_json::json;

use crate::keys::{AEADS, DEFAULT_AEAD, DETERMINISTIC, PRF};

/// Bytes of the longest value that keeps its format.
const MAX_FORMATTED: usize = 256;
/// Bytes of the longest value at all, as the filter is configured without being told.
const MAX_BYTES: usize = 1 << 20;

/// What a session keeps from one value to the next.
#[derive(Default)]
pub(crate) struct Buffers {
    scratch: Scratch,
    /// The bytes of a row.
    row: Vec<u8>,
}

/// One field and a value of it.
pub(crate) struct Case {
    /// `randomized` and so on, as in policies.
    pub(crate) protection: &'static str,
    /// The keys that seal and open.
    pub(crate) key: String,
    /// The column's type.
    pub(crate) column: &'static str,
    stored: StoredForm,
    field: CompiledField,
    text: Vec<u8>,
}

impl Case {
    fn new(protection: &'static str, key: String, keyset: &str, bytes: usize) -> Result<Self, String> {
        let is_formatted = protection == "format_preserving";
        let mut field = json!({
            "relation": "public.message", "column": "body", "label": "message.body", "keyset": keyset,
            "tenant": "", "protection": protection, "type": "text", "read": {"treatment": "reveal"}, "write": "seal",
        });
        if is_formatted && let Some(field) = field.as_object_mut() {
            field.insert("alphabet".to_owned(), "digits".into());
        }
        let answer =
            json!({"result": {"revision": "test", "ttl_seconds": 30, "fields": [field]}}).to_string();
        let plan = Plan::from_json(answer.as_bytes()).map_err(|error| error.to_string())?;
        let plan = CompiledPlan::new(plan).map_err(|error| error.to_string())?;
        let field = plan.fields.into_iter().next().ok_or("the plan has no field")?;
        let characters: &[u8] = if is_formatted { b"0123456789" } else { b"the quick brown fox " };
        Ok(Self {
            protection,
            key,
            column: "text",
            stored: if is_formatted { StoredForm::Formatted } else { StoredForm::Armored },
            field,
            text: characters.iter().copied().cycle().take(bytes).collect(),
        })
    }

    /// The same in a column that holds bytes.
    fn raw(self) -> Self {
        Self { column: "bytea", stored: StoredForm::Raw, ..self }
    }

    /// Bytes of the value.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Calls what the filter calls for a value on its way to the server.
    pub(crate) fn seal(
        &self,
        keyring: &Keyring,
        random: &mut dyn Random,
        buffers: &mut Buffers,
    ) -> Result<Vec<u8>, String> {
        let (value, scratch) = (FieldValue { bytes: &self.text, how: self.stored }, &mut buffers.scratch);
        let mut sealed = Vec::new();
        self.field
            .seal_into(keyring, random, ValueUse::Store, value, MAX_BYTES, scratch, &mut sealed)
            .map_err(|error| format!("{}: {error}", self.name()))?;
        Ok(sealed)
    }

    /// Calls what the filter calls for a stored value on its way to the client, and gives what it appended to the row.
    pub(crate) fn open<'b>(
        &self,
        keyring: &Keyring,
        stored: &[u8],
        buffers: &'b mut Buffers,
    ) -> Result<&'b [u8], String> {
        let Buffers { scratch, row } = buffers;
        row.clear();
        let stored = FieldValue { bytes: stored, how: self.stored };
        let plaintext = || Err("nothing is stored unsealed here".to_owned());
        self.field
            .read_text(&self.field.read, keyring, stored, plaintext, scratch, row)
            .map_err(|error| format!("{}: {error}", self.name()))?;
        Ok(row)
    }

    fn opens_to_its_value(&self, keyring: &Keyring, stored: &[u8]) -> bool {
        self.open(keyring, stored, &mut Buffers::default()).is_ok_and(|value| value == self.text)
    }

    /// That what was sealed opens to the same, and what was changed or belongs elsewhere does not open.
    pub(crate) fn check(&self, keyring: &Keyring, random: &mut dyn Random) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{}: {what}", self.name()));
        let sealed = self.seal(keyring, random, &mut Buffers::default())?;
        if sealed == self.text {
            return wrong("what is sealed is the value");
        }
        if !self.opens_to_its_value(keyring, &sealed) {
            return wrong("what was sealed does not open to the value");
        }
        // Without an envelope nothing tells a changed value.
        if self.stored == StoredForm::Formatted {
            return Ok(());
        }
        let (tag, label) = match self.stored {
            StoredForm::Raw => (sealed.len().saturating_sub(1), 2),
            // Not the last character, of which not all bits may count; the label's tag begins after `fv1.` and two bytes.
            _ => (sealed.len().saturating_sub(4), 7),
        };
        for (what, at) in [("authentication", tag), ("label", label)] {
            let mut changed = sealed.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte = if *byte == b'A' { b'B' } else { b'A' };
            }
            if self.open(keyring, &changed, &mut Buffers::default()).is_ok() {
                return wrong(&format!("it opens with a wrong {what} tag"));
            }
        }
        Ok(())
    }

    /// Tells it from all others.
    pub(crate) fn name(&self) -> String {
        format!("{} with {}, {} bytes in {}", self.protection, self.key, self.text.len(), self.column)
    }
}

/// Every protection with every key type that it can have, for values of these lengths.
pub(crate) fn cases(lengths: &[usize]) -> Result<Vec<Case>, String> {
    let mut found = Vec::new();
    for &bytes in lengths {
        if bytes == 0 || bytes > MAX_BYTES {
            return Err(format!("bytes: {bytes} is not between 1 and {MAX_BYTES}"));
        }
        for key in AEADS {
            found.push(Case::new("randomized", key.to_owned(), key, bytes)?);
        }
        found.push(Case::new("randomized", DEFAULT_AEAD.to_owned(), DEFAULT_AEAD, bytes)?.raw());
        found.push(Case::new("deterministic", DETERMINISTIC.to_owned(), DEFAULT_AEAD, bytes)?);
        found.push(Case::new("indexed", format!("{DEFAULT_AEAD}, {PRF}"), DEFAULT_AEAD, bytes)?);
        if bytes <= MAX_FORMATTED {
            found.push(Case::new("format_preserving", format!("ff1, {PRF}"), DEFAULT_AEAD, bytes)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::keyring;
    use fieldveil_host::Generator;

    #[test]
    fn every_protection_and_key_type_is_there_once_and_does_what_it_says() {
        let (keyring, mut random) = (keyring().unwrap(), Generator::new().unwrap());
        let cases = cases(&[64, 300]).unwrap();
        let mut names: Vec<String> = cases.iter().map(Case::name).collect();
        for case in &cases {
            case.check(&keyring, &mut random).unwrap();
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), cases.len());
        let of = |protection| cases.iter().filter(|case| case.protection == protection).count();
        let counts = ["randomized", "deterministic", "indexed", "format_preserving"].map(of);
        assert_eq!(counts, [2 * (AEADS.len() + 1), 2, 2, 1], "FF1 takes no value of 300 characters");
    }

    #[test]
    fn check_notices_a_value_that_does_not_come_back() {
        let (keyring, mut random) = (keyring().unwrap(), Generator::new().unwrap());
        for mut case in cases(&[64]).unwrap() {
            let sealed = case.seal(&keyring, &mut random, &mut Buffers::default()).unwrap();
            assert!(case.opens_to_its_value(&keyring, &sealed));
            case.text[0] ^= 1;
            assert!(!case.opens_to_its_value(&keyring, &sealed), "{}", case.name());
        }
    }

    #[test]
    fn lengths_that_no_value_has_are_refused() {
        for bytes in [0, MAX_BYTES + 1] {
            let refused = cases(&[bytes]).err().unwrap();
            assert!(refused.starts_with(&format!("bytes: {bytes} is not between")), "{refused}");
        }
    }
}
