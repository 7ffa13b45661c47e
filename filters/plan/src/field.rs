//! One field of a plan: where its values stand, how they are stored, and who gets what.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::wrong;
use crate::place::Column;
use crate::treatment::RawTreatment;
use crate::{Place, PlanError, Treatment, keyset, relation};

/// How a label is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// AEAD.
    Randomized,
    /// AES-SIV: equal values have equal ciphertexts.
    Deterministic,
    /// AEAD with a blind index.
    Indexed,
    /// FF1.
    FormatPreserving,
}

/// Whether a principal may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteRule {
    /// Yes; the value is sealed.
    Seal,
    /// No.
    Refuse,
}

/// What reading a stored value that is no envelope, though it should be one, yields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnPlaintext {
    /// An error: somebody wrote past the filter.
    #[default]
    Refuse,
    /// The value, treated as if it had been opened: for columns that are not all sealed yet.
    Reveal,
    /// NULL.
    Null,
}

/// One field of a plan.
///
/// Large: it has the members of a field of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanField {
    /// Where its values stand.
    pub place: Place,
    /// The data class.
    pub label: String,
    /// The keyset's name: `NAME`, or `NAME/TENANT` for one that is the tenant's own.
    pub keyset: String,
    /// Part of the associated data; empty for none.
    pub tenant: String,
    /// How it is stored.
    pub protection: Protection,
    /// The alphabet's name; there for `format_preserving` and for nothing else.
    pub alphabet: Option<String>,
    /// The type that clients see.
    pub type_name: String,
    /// What reading it yields.
    pub read: Treatment,
    /// What reading a plaintext among envelopes yields.
    pub on_plaintext: OnPlaintext,
    /// Whether it may be written.
    pub write: WriteRule,
}

impl PlanField {
    /// Whether its keyset is a tenant's own, which the key agent opens when it is asked for.
    pub fn has_tenant_keyset(&self) -> bool {
        self.keyset.contains('/')
    }

    /// The names of its column; empty ones, which no column has, of what stands elsewhere.
    pub fn column(&self) -> Column<'_> {
        self.place.column()
    }

    /// Whether both are stored alike, so that a value of one can be compared with the other's and copied there.
    pub(crate) fn is_stored_as(&self, other: &Self) -> bool {
        self.protection == other.protection
            && self.keyset == other.keyset
            && self.alphabet == other.alphabet
            && self.type_name == other.type_name
            && self.tenant == other.tenant
    }
}

/// What a field says wherever it stands.
///
/// Large: it has the members of a field of the plan.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawField {
    label: Option<String>,
    keyset: String,
    #[serde(default)]
    tenant: String,
    protection: Protection,
    alphabet: Option<String>,
    #[serde(rename = "type")]
    type_name: String,
    read: RawTreatment,
    #[serde(default)]
    on_plaintext: OnPlaintext,
    write: WriteRule,
}

/// Reads the field of a database that stands at `at` of the plan.
pub(crate) fn read_column(at: &str, value: Value) -> Result<PlanField, PlanError> {
    let mut object = object(at, value)?;
    let relation = text(at, &mut object, "relation")?;
    let column = text(at, &mut object, "column")?;
    let (schema, table) = relation::split(&relation).ok_or_else(|| {
        wrong(
            format!("{at}.relation"),
            "it is not schema.table; put a part that is not plain lower case in double quotes",
        )
    })?;
    if column.is_empty() {
        return Err(wrong(format!("{at}.column"), "it is empty"));
    }
    let full_name = format!("{schema}.{table}.{column}");
    read(at, Place::Column { schema, table, column }, object, Some(full_name))
}

/// Reads the field of a route that stands at `at` of the plan.
pub(crate) fn read_of_route(at: &str, value: Value) -> Result<PlanField, PlanError> {
    let mut object = object(at, value)?;
    let part = text(at, &mut object, "in")?;
    let name = text(at, &mut object, "at")?;
    if name.is_empty() {
        return Err(wrong(format!("{at}.at"), "it is empty; write the JSON path or the name"));
    }
    let place = Place::of_exchange(&part, &name).ok_or_else(|| {
        wrong(format!("{at}.in"), "it is none of request, response, query, header and segment")
    })?;
    read(at, place, object, None)
}

pub(crate) fn object(at: &str, value: Value) -> Result<Map<String, Value>, PlanError> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(wrong(at, "it is not an object")),
    }
}

fn text(at: &str, object: &mut Map<String, Value>, name: &str) -> Result<String, PlanError> {
    match object.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(wrong(format!("{at}.{name}"), "it is not a string")),
        None => Err(wrong(at, format!("missing field `{name}`"))),
    }
}

/// Where no label is told, `full_name` is one.
fn read(
    at: &str,
    place: Place,
    rest: Map<String, Value>,
    full_name: Option<String>,
) -> Result<PlanField, PlanError> {
    let raw: RawField = serde_json::from_value(Value::Object(rest)).map_err(|e| wrong(at, e.to_string()))?;
    if raw.type_name.is_empty() {
        return Err(wrong(format!("{at}.type"), "it is empty"));
    }
    let label = raw.label.or(full_name).ok_or_else(|| wrong(at, "missing field `label`"))?;
    if label.is_empty() || label.contains('\0') || raw.tenant.contains('\0') {
        return Err(wrong(
            format!("{at}.label"),
            "label and tenant may hold no NUL, and a label is never empty",
        ));
    }
    check_keyset(at, &raw.keyset, &raw.tenant)?;
    check_alphabet(at, raw.protection, raw.alphabet.as_deref())?;
    check_on_plaintext(at, raw.protection, raw.on_plaintext)?;
    let read = raw.read.check(&format!("{at}.read"))?;
    Ok(PlanField {
        place,
        label,
        keyset: raw.keyset,
        tenant: raw.tenant,
        protection: raw.protection,
        alphabet: raw.alphabet,
        type_name: raw.type_name,
        read,
        on_plaintext: raw.on_plaintext,
        write: raw.write,
    })
}

/// A tenant's own keyset seals for no other tenant: what is sealed under it is bound to its tenant, too.
fn check_keyset(at: &str, name: &str, tenant: &str) -> Result<(), PlanError> {
    match keyset::split(name) {
        None => Err(wrong(
            format!("{at}.keyset"),
            "it is neither NAME nor NAME/TENANT, each 1 to 63 of a-z 0-9 _ - that begin with a letter or digit",
        )),
        Some((_, Some(own))) if own != tenant => Err(wrong(
            format!("{at}.tenant"),
            format!("keyset {name} is that of tenant {own} alone; name that tenant, or another keyset"),
        )),
        Some(_) => Ok(()),
    }
}

/// That an alphabet has the name is for the crate that knows them to say.
fn check_alphabet(at: &str, protection: Protection, alphabet: Option<&str>) -> Result<(), PlanError> {
    let reason = match (protection, alphabet) {
        (Protection::FormatPreserving, Some(name)) if !name.is_empty() => return Ok(()),
        (Protection::FormatPreserving, _) => {
            "format_preserving needs one; name the characters of its values, such as \"digits\""
        }
        (_, None) => return Ok(()),
        (_, Some(_)) => "only format_preserving has one; leave it out",
    };
    Err(wrong(format!("{at}.alphabet"), reason))
}

/// A format-preserving value looks like any other: nothing tells a plaintext from it.
fn check_on_plaintext(at: &str, protection: Protection, rule: OnPlaintext) -> Result<(), PlanError> {
    if protection == Protection::FormatPreserving && rule != OnPlaintext::Refuse {
        return Err(wrong(
            format!("{at}.on_plaintext"),
            "nothing tells a plaintext from a format_preserving value; leave it out, or use another protection",
        ));
    }
    Ok(())
}
