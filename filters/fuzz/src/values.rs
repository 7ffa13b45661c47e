//! Values of every declared type, and masks of them.

use std::borrow::Cow;

use std::sync::LazyLock;

use fieldveil_values::mysql::{self, Settings};
use fieldveil_values::{
    DeclaredType, Mask, ValueUse, array_elements, bytea_from_text, decode_binary, oid, text_array,
};

const NAMES: &[&str] = &[
    "text",
    "varchar(5)",
    "char(5)",
    "int2",
    "int4",
    "int8",
    "bool",
    "float8",
    "numeric",
    "numeric(10,2)",
    "numeric(5,5)",
    "date",
    "timestamp",
    "timestamp(0)",
    "timestamptz",
    "timestamptz(3)",
    "uuid",
    "json",
    "bytea",
    "bpchar",
    "time",
    "time(2)",
    "jsonb",
    "text[]",
    "varchar(3)[]",
    "char(3)[]",
    "int4[]",
    "float8[]",
    "numeric(10,2)[]",
    "date[]",
    "timestamptz(3)[]",
    "jsonb[]",
    "bytea[]",
    "datetime",
    "varbinary(4)",
    "tinyint(1)",
];

/// The types of [`NAMES`], and those that are described and are none of these by another name.
pub(crate) static TYPES: LazyLock<Vec<DeclaredType>> = LazyLock::new(|| {
    let mut types: Vec<DeclaredType> = NAMES.iter().map(|name| name.parse().expect("a known type")).collect();
    let described = include_str!("../../../policies/schemas/types/data.json");
    let described: serde_json::Value = serde_json::from_str(described).expect("a description of types");
    for name in described["types"].as_object().expect("types by their names").keys() {
        // Some need a length, and are another's name.
        let Ok(declared) = name.parse::<DeclaredType>() else { continue };
        if types.iter().all(|known| known.oid() != declared.oid()) {
            types.push(declared);
        }
    }
    types
});

static MASKS: LazyLock<Vec<Mask>> = LazyLock::new(|| {
    let described = include_str!("../../../policies/schemas/masks/data.json");
    let described: serde_json::Value = serde_json::from_str(described).expect("a description of masks");
    let masks = described["masks"].as_object().expect("masks by their names");
    let mut formats: Vec<&str> =
        masks.values().filter_map(|mask| mask["example"]["format"].as_str()).collect();
    // Inputs name a mask by its place, which is the place in the pattern.
    let pattern = described["pattern"].as_str().expect("a pattern of masks");
    formats.sort_by_key(|format| format.split('(').next().and_then(|name| pattern.find(name)));
    formats.into_iter().map(|format| format.parse().expect("a known mask")).collect()
});

const OIDS: &[u32] = &[
    0,
    oid::BOOL,
    oid::BYTEA,
    oid::NAME,
    oid::INT8,
    oid::INT2,
    oid::INT4,
    oid::TEXT,
    oid::JSON,
    oid::FLOAT4,
    oid::FLOAT8,
    oid::UNKNOWN,
    oid::BPCHAR,
    oid::VARCHAR,
    oid::DATE,
    oid::TIMESTAMP,
    oid::TIMESTAMPTZ,
    oid::NUMERIC,
    oid::UUID,
    oid::JSONB,
    oid::TIME,
    600,
];

/// What a client may name: [`OIDS`], and what [`TYPES`] has besides.
static ELEMENTS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut elements = OIDS.to_vec();
    for scalar in TYPES.iter().filter(|declared| declared.element_type().is_none()) {
        if !elements.contains(&scalar.oid()) {
            elements.push(scalar.oid());
        }
    }
    elements
});

/// `MYSQL_TYPE_VAR_STRING`
const STRING: u8 = 253;

/// What a client may call its parameter: a type, or with the high bit the array of it.
fn parameter_type(by: u8) -> u32 {
    let element = *pick(&ELEMENTS, by & 0x7f);
    if by & 0x80 == 0 { element } else { oid::array_of(element).unwrap_or(element) }
}

/// The first byte picks the type, the second what the client calls its parameter; the rest is the value.
pub(crate) fn values(bytes: &[u8]) {
    let [kind, from, value @ ..] = bytes else { return };
    let declared = pick(&TYPES, *kind);
    of_mysql(declared, *from, value);
    let from = parameter_type(*from);
    arrays(value);
    let _ = decode_binary(from, value);
    let _ = bytea_from_text(value);
    let _ = declared.encode_text(value);
    let _ = declared.encode_binary(value);
    for use_ in [ValueUse::Store, ValueUse::Search] {
        let _ = declared.canonicalize_for(use_, value);
        for binary in [false, true] {
            if let Ok(text) = declared.read_parameter(use_, from, binary, value) {
                let _ = declared.canonicalize_for(use_, &text);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(value) {
        let _ = text.parse::<DeclaredType>();
    }
    if let Ok(canonical) = declared.canonicalize(value) {
        check_canonical(declared, &canonical);
    }
}

/// What is taken of MySQL's is canonical, and what is shown comes back. The byte is the type that the client named, an
/// odd one also that it is MariaDB.
fn of_mysql(declared: &DeclaredType, from: u8, value: &[u8]) {
    let settings = Settings { mariadb: from & 1 == 1, ..Settings::default() };
    for use_ in [ValueUse::Store, ValueUse::Search] {
        let parameter = mysql::read_parameter(declared, &settings, use_, from, from & 2 == 2, value);
        let literal = mysql::read_literal(declared, &settings, use_, value).map(Cow::Owned);
        for canonical in [parameter, literal].into_iter().flatten() {
            assert_eq!(declared.canonicalize_for(use_, &canonical).as_deref(), Ok(&canonical[..]));
            let Ok(shown) = mysql::encode_text(declared, &settings, &canonical) else { continue };
            mysql::encode_binary(declared, &settings, &canonical)
                .expect("what is shown in one protocol is in the other");
            let back = mysql::read_parameter(declared, &settings, ValueUse::Store, STRING, false, &shown);
            assert_eq!(back.as_deref(), Ok(&canonical[..]));
        }
    }
}

/// The elements of an array in text are read back from the text that is made of them.
fn arrays(value: &[u8]) {
    let _ = array_elements(true, value);
    if let Ok((_, elements)) = array_elements(false, value) {
        assert_eq!(array_elements(false, &text_array(&elements)), Ok((0, elements)));
    }
}

/// A canonical text is its own, and comes back from both formats.
fn check_canonical(declared: &DeclaredType, canonical: &[u8]) {
    assert_eq!(declared.canonicalize(canonical).as_deref(), Ok(canonical));
    let shown = declared.encode_text(canonical).expect("a canonical text can be shown");
    assert_eq!(declared.canonicalize(&shown).as_deref(), Ok(canonical));
    let binary = declared.encode_binary(canonical).expect("a canonical text has a binary form");
    let back = decode_binary(declared.oid(), &binary).expect("what is encoded can be decoded");
    assert_eq!(declared.canonicalize(&back).as_deref(), Ok(canonical));
}

/// A masked value is a value of its type. The first byte picks mask and type.
pub(crate) fn masks(bytes: &[u8]) {
    let [mask, kind, value @ ..] = bytes else { return };
    let (mask, declared) = (pick(&MASKS, *mask), pick(&TYPES, *kind));
    if let Ok(text) = std::str::from_utf8(value) {
        let _ = mask.apply(declared, text);
        let _ = text.parse::<Mask>();
    }
    let Ok(canonical) = declared.canonicalize(value) else { return };
    if !mask.applies_to(declared) {
        return;
    }
    let masked = mask.apply(declared, std::str::from_utf8(&canonical).expect("a canonical text is text"));
    assert!(declared.canonicalize(masked.as_bytes()).is_ok(), "a masked value is a value");
    assert!(declared.encode_binary(masked.as_bytes()).is_ok(), "a masked value has a binary form");
}

pub(crate) fn pick<T>(from: &[T], by: u8) -> &T {
    &from[usize::from(by) % from.len()]
}
