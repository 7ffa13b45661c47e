//! Type OIDs of PostgreSQL (`pg_type.dat`), as far as values are concerned.

#![allow(missing_docs)]

pub const BOOL: u32 = 16;
pub const BYTEA: u32 = 17;
pub const NAME: u32 = 19;
pub const INT8: u32 = 20;
pub const INT2: u32 = 21;
pub const INT4: u32 = 23;
pub const TEXT: u32 = 25;
pub const JSON: u32 = 114;
pub const FLOAT4: u32 = 700;
pub const FLOAT8: u32 = 701;
pub const UNKNOWN: u32 = 705;
pub const BPCHAR: u32 = 1042;
pub const VARCHAR: u32 = 1043;
pub const DATE: u32 = 1082;
pub const TIME: u32 = 1083;
pub const TIMESTAMP: u32 = 1114;
pub const TIMESTAMPTZ: u32 = 1184;
pub const NUMERIC: u32 = 1700;
pub const UUID: u32 = 2950;
pub const JSONB: u32 = 3802;

/// The types as an error names them.
pub(crate) const KNOWN: &str = "text, varchar(n), char(n), bpchar, int2, int4, int8, bool, float8, numeric(p,s), date, \
     time(p), timestamp(p), timestamptz(p), uuid, json, jsonb, bytea";

/// A type and the type of its arrays (`pg_type.typarray`).
const ARRAYS: [(u32, u32); 19] = [
    (BOOL, 1000),
    (BYTEA, 1001),
    (NAME, 1003),
    (INT8, 1016),
    (INT2, 1005),
    (INT4, 1007),
    (TEXT, 1009),
    (JSON, 199),
    (FLOAT4, 1021),
    (FLOAT8, 1022),
    (BPCHAR, 1014),
    (VARCHAR, 1015),
    (DATE, 1182),
    (TIME, 1183),
    (TIMESTAMP, 1115),
    (TIMESTAMPTZ, 1185),
    (NUMERIC, 1231),
    (UUID, 2951),
    (JSONB, 3807),
];

/// The type of arrays of `element`, if that is a type known here.
pub fn array_of(element: u32) -> Option<u32> {
    ARRAYS.iter().find(|(of, _)| *of == element).map(|(_, array)| *array)
}

/// The type of the elements of `array`, if that is the array type of a type known here.
pub fn element_of(array: u32) -> Option<u32> {
    ARRAYS.iter().find(|(_, of)| *of == array).map(|(element, _)| *element)
}
