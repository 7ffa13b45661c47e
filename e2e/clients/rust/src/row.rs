//! The row that all clients write and read, and those that they copy in.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use uuid::Uuid;

pub const SSN: &str = "078-05-1120";
pub const NEW_EMAIL: &str = "new@example.com";
pub const LAST_EMAIL: &str = "two@example.com";

pub const INSERT: &str = "INSERT INTO person \
    (id, name, ssn, ref, email, born, balance, visits, score, active, seen, made, extra, photo) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
pub const SELECT: &str = "SELECT \
    id, name, ssn, ref, email, born, balance, visits, score, active, seen, made, extra, photo \
    FROM person WHERE id = $1";
pub const SHORT: &str = "INSERT INTO person (id, ssn) VALUES ($1, $2)";
pub const SSN_OF: &str = "SELECT ssn FROM person WHERE id = $1";
pub const BY_SSN: &str = "SELECT id FROM person WHERE ssn = $1";
pub const BY_REF: &str = "SELECT id FROM person WHERE ref = $1";
pub const UPDATE: &str =
    "UPDATE person SET email = $1, balance = $2 WHERE ssn = $3 RETURNING id, email, balance";
pub const UPSERT: &str = "INSERT INTO person (id, ssn, email) VALUES ($1, $2, $3) \
    ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email";
pub const ORDER_BY_SSN: &str = "SELECT id FROM person ORDER BY ssn";
pub const SELECT_COPIED: &str =
    "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id";
pub const COPY_OUT: &str = "COPY person (id, ssn, born) TO STDOUT";

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: i64,
    pub name: String,
    pub ssn: String,
    pub reference: Uuid,
    pub email: String,
    pub born: NaiveDate,
    pub balance: Decimal,
    pub visits: i32,
    pub score: f64,
    pub active: bool,
    pub seen: DateTime<Utc>,
    pub made: NaiveDateTime,
    pub extra: Value,
    pub photo: Vec<u8>,
}

/// A row as it is copied in.
pub type Copied = (i64, String, String, String, Option<NaiveDate>);

/// The row that is there from the beginning.
pub fn first() -> Row {
    Row {
        id: 1,
        name: "Zoë".into(),
        ssn: SSN.into(),
        reference: "c56a4180-65aa-42ec-a945-5fd21dec0538".parse().expect("a uuid"),
        email: "zoë@example.com".into(),
        born: date(1980, 5, 17),
        balance: Decimal::new(123_450, 2),
        visits: 42,
        score: 0.1,
        active: true,
        seen: date(2024, 2, 29).and_hms_milli_opt(10, 0, 0, 500).expect("a time").and_utc(),
        made: date(1999, 12, 31).and_hms_milli_opt(23, 59, 59, 123).expect("a time"),
        extra: json!({"a": [1, 2.5], "b": "x"}),
        photo: vec![0x00, 0xff, 0x10],
    }
}

/// The row of this id, all columns.
pub fn numbered(id: i64) -> Row {
    let reference = Uuid::from_u128(id.unsigned_abs().into());
    Row { id, ssn: ssn(id), reference, ..first() }
}

/// The ssn of every row but the first.
pub fn ssn(id: i64) -> String {
    format!("ssn-{id}")
}

/// What an update writes.
pub fn new_balance() -> Decimal {
    Decimal::new(-5, 2)
}

/// Has what the text format must escape, the first of all dates, an empty string and a NULL.
pub fn to_copy() -> Vec<Copied> {
    let odd = "tab\tand \\ and\nline";
    vec![
        (600, "first".into(), "first@example.com".into(), ssn(600), Some(date(2000, 2, 29))),
        (601, odd.into(), odd.into(), ssn(601), Some(date(1, 1, 1))),
        (602, "last".into(), String::new(), ssn(602), None),
    ]
}

/// Row 1 is among the lines of a COPY to the client.
pub fn is_copied_out(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).lines().any(|line| line == format!("1\t{SSN}\t1980-05-17"))
}

fn date(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a date")
}
