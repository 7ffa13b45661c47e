//! How a column of a declared type is shown: what a server says of a column that was created with it.

use super::{Settings, type_code};
use crate::declared::Shape;
use crate::kind::Kind;
use crate::types::integer::Width;
use crate::types::numeric;
use crate::{DeclaredType, ValueError};

/// What a column definition says of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// `enum_field_types`
    pub column_type: u8,
    /// The collation's number; 63, binary, for what is no text.
    pub charset: u16,
    /// Bytes of the longest text.
    pub length: u32,
    /// The flags that come with the type; see [`Column::TYPE_FLAGS`].
    pub flags: u16,
    /// Digits behind the point; 31 where there is no fixed number of them.
    pub decimals: u8,
}

const BLOB_FLAG: u16 = 16;
const UNSIGNED_FLAG: u16 = 32;
const ZEROFILL_FLAG: u16 = 64;
const BINARY_FLAG: u16 = 128;
const ENUM_FLAG: u16 = 256;
const TIMESTAMP_FLAG: u16 = 1024;
const SET_FLAG: u16 = 2048;
const ON_UPDATE_NOW_FLAG: u16 = 8192;

const BINARY: u16 = 63;
/// `NOT_FIXED_DEC`
const NOT_FIXED: u8 = 31;
/// Digits of a `DECIMAL`, and how many of them may stand behind the point.
pub(super) const MAX_DIGITS: u32 = 65;
pub(super) const MAX_SCALE: u32 = 30;
/// Bytes of the longest `VARCHAR` and `VARBINARY`.
const MAX_VARCHAR_BYTES: u32 = 65_535;
/// Characters of the longest `CHAR`.
const MAX_CHAR: u32 = 255;
const UUID_CHARACTERS: u32 = 36;

impl Column {
    /// The flags that tell of a type. Others of a stored column tell of its keys and default, and stay.
    pub const TYPE_FLAGS: u16 = BLOB_FLAG
        | UNSIGNED_FLAG
        | ZEROFILL_FLAG
        | BINARY_FLAG
        | ENUM_FLAG
        | TIMESTAMP_FLAG
        | SET_FLAG
        | ON_UPDATE_NOW_FLAG;

    fn number(column_type: u8, length: u32) -> Self {
        Self { column_type, charset: BINARY, length, flags: 0, decimals: 0 }
    }

    /// A date, a time or both, `length` characters long without a fraction.
    fn temporal(column_type: u8, length: u32, precision: u32) -> Self {
        let fraction = if precision == 0 { 0 } else { precision.saturating_add(1) };
        let decimals = u8::try_from(precision).unwrap_or_default();
        let length = length.saturating_add(fraction);
        Self { column_type, charset: BINARY, length, flags: BINARY_FLAG, decimals }
    }

    fn characters(column_type: u8, characters: u32, settings: &Settings) -> Self {
        let length = characters.saturating_mul(settings.results.max_bytes);
        Self { column_type, charset: settings.results.id, length, flags: 0, decimals: 0 }
    }

    /// One of the four kinds of `TEXT`, by the bytes that they hold.
    fn text(bytes: u32, settings: &Settings) -> Self {
        Self { flags: BLOB_FLAG, ..Self::characters(type_code::BLOB, bytes, settings) }
    }

    fn blob(bytes: u32) -> Self {
        let flags = BLOB_FLAG | BINARY_FLAG;
        Self { column_type: type_code::BLOB, charset: BINARY, length: bytes, flags, decimals: 0 }
    }
}

/// Digits behind the second's point of a type: six unless told.
pub(super) fn precision(declared: Option<u32>) -> u32 {
    declared.unwrap_or(6)
}

/// The scalar, if MySQL has values of the type.
pub(super) fn kind(declared: &DeclaredType) -> Result<Kind, ValueError> {
    match declared.shape {
        Shape::Array(_) => Err(ValueError::Unsupported("MySQL has no arrays; declare json or text")),
        Shape::Scalar(Kind::Numeric(Some(modifier))) if !fits(modifier) => Err(ValueError::Unsupported(
            "a DECIMAL of MySQL has at most 65 digits, and 30 of them behind the point",
        )),
        Shape::Scalar(kind) => {
            kind.missing_in_mysql().map_or(Ok(kind), |why| Err(ValueError::Unsupported(why)))
        }
    }
}

fn fits(modifier: numeric::Modifier) -> bool {
    modifier.precision() <= MAX_DIGITS && modifier.scale() <= MAX_SCALE
}

/// Whether MySQL has values of the type; the error says why not, and what to declare instead.
pub fn check(declared: &DeclaredType) -> Result<(), ValueError> {
    kind(declared).map(|_| ())
}

/// What the definition of a column of the type says.
pub fn column(declared: &DeclaredType, settings: &Settings) -> Result<Column, ValueError> {
    Ok(match kind(declared)? {
        Kind::Text => Column::text(bytes_of(declared.name()), settings),
        Kind::Varchar(Some(n)) if n.saturating_mul(4) <= MAX_VARCHAR_BYTES => {
            Column::characters(type_code::VAR_STRING, n, settings)
        }
        Kind::Bpchar(Some(n)) if n <= MAX_CHAR => Column::characters(type_code::STRING, n, settings),
        Kind::Bpchar(Some(n)) if n.saturating_mul(4) <= MAX_VARCHAR_BYTES => {
            Column::characters(type_code::VAR_STRING, n, settings)
        }
        Kind::Integer(Width::Two) => Column::number(type_code::SHORT, 6),
        Kind::Integer(Width::Four) => Column::number(type_code::LONG, 11),
        Kind::Integer(Width::Eight) => Column::number(type_code::LONGLONG, 20),
        Kind::Bool => Column::number(type_code::TINY, 1),
        Kind::Float8 => Column { decimals: NOT_FIXED, ..Column::number(type_code::DOUBLE, 22) },
        Kind::Numeric(Some(modifier)) => decimal(modifier.precision(), modifier.scale()),
        Kind::Numeric(None) => decimal(MAX_DIGITS, MAX_SCALE),
        Kind::Date => Column::temporal(type_code::DATE, 10, 0),
        Kind::Time(p) => Column::temporal(type_code::TIME, 10, precision(p)),
        Kind::Timestamp(p) | Kind::Timestamptz(p) => Column::temporal(type_code::DATETIME, 19, precision(p)),
        Kind::Uuid => Column::characters(type_code::STRING, UUID_CHARACTERS, settings),
        Kind::Json | Kind::Jsonb if settings.mariadb => {
            let flags = BLOB_FLAG | BINARY_FLAG;
            Column { flags, ..Column::text(u32::MAX, settings) }
        }
        Kind::Json | Kind::Jsonb => Column { column_type: type_code::JSON, ..Column::blob(u32::MAX) },
        Kind::Bytea(Some(n)) if n <= MAX_VARCHAR_BYTES => {
            Column { flags: BINARY_FLAG, ..Column { column_type: type_code::VAR_STRING, ..Column::blob(n) } }
        }
        Kind::Bytea(Some(_)) => Column::blob(u32::MAX),
        Kind::Bytea(None) => Column::blob(bytes_of(declared.name())),
        // Characters, of which the type names no length that MySQL has.
        _ => Column::text(u32::MAX, settings),
    })
}

/// Bytes that a kind of `TEXT` or `BLOB` holds. What has PostgreSQL's name has none, and is the ordinary one.
fn bytes_of(name: &str) -> u32 {
    match name {
        "tinytext" | "tinyblob" => 255,
        "mediumtext" | "mediumblob" => 16_777_215,
        "longtext" | "longblob" => u32::MAX,
        _ => 65_535,
    }
}

fn decimal(precision: u32, scale: u32) -> Column {
    let point = u32::from(scale > 0);
    let length = precision.saturating_add(point).saturating_add(1);
    Column {
        decimals: u8::try_from(scale).unwrap_or_default(),
        ..Column::number(type_code::NEWDECIMAL, length)
    }
}
