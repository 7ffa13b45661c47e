//! One protected column of a plan.

use crate::error::PlanError;
use crate::names::{MAX_IDENTIFIER_BYTES, MAX_NAME_BYTES, full_name, split_relation};
use crate::reader::Reader;

/// Longest `schema.table`: two identifiers, each with every character a doubled quote.
const MAX_RELATION_BYTES: usize = 4 * MAX_IDENTIFIER_BYTES + 5;

/// How a label is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// AEAD: equal values have different envelopes.
    Randomized,
    /// AES-SIV: equal values have equal envelopes, and can be searched for.
    Deterministic,
    /// AEAD with a blind index in front.
    Indexed,
    /// FF1: what is stored looks like a value.
    FormatPreserving,
}

/// What the principal gets on reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Treatment {
    /// The value.
    Reveal,
    /// The value under a mask.
    Mask {
        /// The mask's name, such as `last4`; whether there is such a one is for the engine to know.
        format: String,
    },
    /// The stored ciphertext.
    Conceal,
    /// NULL.
    Null,
    /// An error.
    Refuse,
}

/// What the principal may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRule {
    /// Values, which are sealed.
    Seal,
    /// Nothing.
    Refuse,
}

/// One protected column and what one principal may do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanField {
    /// The schema's name as the server's catalog has it.
    pub schema: String,
    /// The table's name as the server's catalog has it.
    pub table: String,
    /// The column's name as the server's catalog has it.
    pub column: String,
    /// The data class; the column's full name where the plan gives none.
    pub label: String,
    /// The keyset that seals it.
    pub keyset: String,
    /// Bound into the associated data; empty for none.
    pub tenant: String,
    /// How it is stored.
    pub protection: Protection,
    /// The type that clients see, such as `numeric(10,2)`.
    pub type_name: String,
    /// What reading yields.
    pub read: Treatment,
    /// What may be written.
    pub write: WriteRule,
}

const NAMES: [&str; 9] =
    ["relation", "column", "label", "keyset", "tenant", "protection", "type", "read", "write"];

const PROTECTIONS: [(&str, Protection); 4] = [
    ("randomized", Protection::Randomized),
    ("deterministic", Protection::Deterministic),
    ("indexed", Protection::Indexed),
    ("format_preserving", Protection::FormatPreserving),
];

const WRITE_RULES: [(&str, WriteRule); 2] = [("seal", WriteRule::Seal), ("refuse", WriteRule::Refuse)];

/// A treatment's word, before its format is read.
#[derive(Clone, Copy)]
enum Word {
    Reveal,
    Mask,
    Conceal,
    Null,
    Refuse,
}

const TREATMENTS: [(&str, Word); 5] = [
    ("reveal", Word::Reveal),
    ("mask", Word::Mask),
    ("conceal", Word::Conceal),
    ("null", Word::Null),
    ("refuse", Word::Refuse),
];

impl PlanField {
    pub(crate) fn read(from: &Reader<'_>) -> Result<Self, PlanError> {
        from.only(&NAMES)?;
        let (schema, table) =
            split_relation(from.name("relation", MAX_RELATION_BYTES)?).map_err(|reason| {
                from.invalid("relation", reason, "write schema.table, in double quotes where needed")
            })?;
        let column = from.name("column", MAX_IDENTIFIER_BYTES)?.to_owned();
        let label = match from.optional_text("label")? {
            Some("") => return Err(from.invalid("label", "empty", "name the label, or leave it out")),
            Some(label) => label.to_owned(),
            None => full_name(&schema, &table, &column),
        };
        Ok(Self {
            schema,
            table,
            column,
            label,
            keyset: from.name("keyset", MAX_NAME_BYTES)?.to_owned(),
            tenant: from.optional_text("tenant")?.unwrap_or_default().to_owned(),
            protection: from.word("protection", &PROTECTIONS)?,
            type_name: from.name("type", MAX_NAME_BYTES)?.to_owned(),
            read: read_treatment(&from.object("read")?)?,
            write: from.word("write", &WRITE_RULES)?,
        })
    }
}

fn read_treatment(from: &Reader<'_>) -> Result<Treatment, PlanError> {
    let word = from.word("treatment", &TREATMENTS)?;
    if !matches!(word, Word::Mask) {
        from.only(&["treatment"])?;
    }
    Ok(match word {
        Word::Mask => {
            from.only(&["treatment", "format"])?;
            Treatment::Mask { format: from.name("format", MAX_NAME_BYTES)?.to_owned() }
        }
        Word::Reveal => Treatment::Reveal,
        Word::Conceal => Treatment::Conceal,
        Word::Null => Treatment::Null,
        Word::Refuse => Treatment::Refuse,
    })
}
