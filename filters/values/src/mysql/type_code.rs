//! `enum_field_types`: what column definitions and parameters say of a type.

pub(super) const DECIMAL: u8 = 0;
pub(super) const TINY: u8 = 1;
pub(super) const SHORT: u8 = 2;
pub(super) const LONG: u8 = 3;
pub(super) const FLOAT: u8 = 4;
pub(super) const DOUBLE: u8 = 5;
pub(super) const TIMESTAMP: u8 = 7;
pub(super) const LONGLONG: u8 = 8;
pub(super) const INT24: u8 = 9;
pub(super) const DATE: u8 = 10;
pub(super) const TIME: u8 = 11;
pub(super) const DATETIME: u8 = 12;
pub(super) const YEAR: u8 = 13;
pub(super) const VARCHAR: u8 = 15;
pub(super) const JSON: u8 = 245;
pub(super) const NEWDECIMAL: u8 = 246;
pub(super) const ENUM: u8 = 247;
pub(super) const SET: u8 = 248;
pub(super) const TINY_BLOB: u8 = 249;
pub(super) const MEDIUM_BLOB: u8 = 250;
pub(super) const LONG_BLOB: u8 = 251;
pub(super) const BLOB: u8 = 252;
pub(super) const VAR_STRING: u8 = 253;
pub(super) const STRING: u8 = 254;
