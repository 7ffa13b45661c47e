//! Held against what a real MariaDB and a real MySQL make of the same columns, literals, parameters and searches: agree or refuse, never
//! disagree.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use fieldveil_values::mysql::{self, Column, Settings};
use fieldveil_values::{DeclaredType, ValueError, ValueUse};
use serde_json::Value;

fn servers() -> [Value; 2] {
    [include_str!("../../testdata/mariadb-10.11.json"), include_str!("../../testdata/mysql-9.7.json")]
        .map(|recorded| serde_json::from_str(recorded).unwrap())
}

fn settings(recorded: &Value, mode: &str) -> Settings {
    let (version, sql_mode) = (&recorded["version"], &recorded[mode]["sql_mode"]);
    Settings::read(version.as_str().unwrap(), sql_mode.as_str().unwrap(), Some("utf8mb4"))
}

fn unhex(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn declared(name: &Value) -> DeclaredType {
    name.as_str().unwrap().parse().unwrap()
}

fn number<T: TryFrom<u64>>(value: &Value) -> T {
    T::try_from(value.as_u64().unwrap()).ok().unwrap()
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the server refuses though it is read one way only: numbers below what it bothers with, binary strings with blanks
/// behind a number or the text of a UUID, JSON that is deep or of half a character.
fn is_harmless(case: &str) -> bool {
    let binary = case.contains("252,false,\"203720\"") || case.contains("\"uuid\",252,");
    binary || case.contains("\"1e-1000\"") || case.contains("\"json\",")
}

/// How often a value was taken, of how often the server takes it.
#[derive(Default)]
struct Taken(BTreeMap<String, (usize, usize)>, Vec<String>);

impl Taken {
    /// What we make of a value, and the server's text and binary.
    fn check(
        &mut self,
        declared: &DeclaredType,
        settings: &Settings,
        case: &str,
        ours: Result<Vec<u8>, ValueError>,
        servers: &[Value],
    ) {
        let count = self.0.entry(declared.name().to_owned()).or_default();
        count.1 += usize::from(!servers[0].is_null());
        let Ok(canonical) = ours else { return };
        assert_eq!(declared.canonicalize(&canonical), Ok(canonical.clone()), "{case}: not canonical");
        if servers[0].is_null() {
            if is_harmless(case) {
                return;
            }
            return self.1.push(format!("{case}: the server refuses, we make it {}", shown(&canonical)));
        }
        count.0 += 1;
        // MySQL writes JSON anew, where we give it back as it was written.
        if declared.name() == "json" && !settings.mariadb {
            return;
        }
        let text = mysql::encode_text(declared, settings, &canonical).unwrap();
        if text != unhex(&servers[0]) {
            self.1.push(format!("{case}: text {} is not {}", shown(&text), shown(&unhex(&servers[0]))));
        }
        let binary = mysql::encode_binary(declared, settings, &canonical).unwrap();
        if binary != unhex(&servers[1]) {
            self.1.push(format!("{case}: binary {binary:02x?} is not {}", servers[1]));
        }
    }

    /// Refusing everything would pass the checks.
    fn assert(self, percent: usize) {
        assert!(self.1.is_empty(), "{} disagreements:\n{}", self.1.len(), self.1.join("\n"));
        for (name, (ours, servers)) in self.0 {
            assert!(
                ours * 100 >= servers * percent,
                "{name}: only {ours} of the {servers} that the server takes"
            );
        }
    }
}

#[test]
fn column_is_shown_as_the_server_shows_one_of_the_type() {
    servers().iter().for_each(check_columns);
}

fn check_columns(recorded: &Value) {
    let settings = settings(recorded, "plain");
    for case in recorded["columns"].as_array().unwrap() {
        let definition = &case[1];
        let expected = Column {
            column_type: number(&definition[0]),
            charset: number(&definition[1]),
            length: number(&definition[2]),
            flags: number(&definition[3]),
            decimals: number(&definition[4]),
        };
        assert_eq!(mysql::column(&declared(&case[0]), &settings), Ok(expected), "{}", case[0]);
    }
}

#[test]
fn literal_is_stored_as_the_server_stores_it_or_refused() {
    servers().iter().for_each(check_literals);
}

fn check_literals(recorded: &Value) {
    let mut taken = Taken::default();
    for mode in ["plain", "fractions"] {
        let settings = settings(recorded, mode);
        for case in recorded[mode]["literals"].as_array().unwrap() {
            let declared = declared(&case[0]);
            let text = case[1].as_str().unwrap();
            let ours = mysql::read_literal(&declared, &settings, ValueUse::Store, text.as_bytes());
            taken.check(
                &declared,
                &settings,
                &format!("{mode} {case}"),
                ours,
                &case.as_array().unwrap()[2..],
            );
        }
    }
    taken.assert(30);
}

#[test]
fn parameter_is_stored_as_the_server_stores_it_or_refused() {
    servers().iter().for_each(check_parameters);
}

fn check_parameters(recorded: &Value) {
    let mut taken = Taken::default();
    for mode in ["plain", "fractions"] {
        let settings = settings(recorded, mode);
        for case in recorded[mode]["parameters"].as_array().unwrap() {
            let declared = declared(&case[0]);
            let (code, unsigned, value) = (number(&case[1]), case[2].as_bool().unwrap(), unhex(&case[3]));
            let ours = read_parameter(&declared, &settings, ValueUse::Store, code, unsigned, &value);
            taken.check(
                &declared,
                &settings,
                &format!("{mode} {case}"),
                ours,
                &case.as_array().unwrap()[4..],
            );
        }
    }
    taken.assert(20);
}

#[test]
fn value_looked_for_finds_what_the_server_finds_or_is_refused() {
    servers().iter().for_each(check_searches);
}

fn check_searches(recorded: &Value) {
    let settings = settings(recorded, "plain");
    let (mut wrong, mut taken) = (Vec::new(), 0);
    let cases = recorded["searches"].as_array().unwrap();
    for case in cases {
        let declared = declared(&case[0]);
        let value = unhex(&case[4]);
        let sought = match &case[2] {
            Value::Null => mysql::read_literal(&declared, &settings, ValueUse::Search, &value),
            code => {
                let unsigned = case[3].as_bool().unwrap();
                read_parameter(&declared, &settings, ValueUse::Search, number(code), unsigned, &value)
            }
        };
        let Ok(sought) = sought else { continue };
        taken += 1;
        let stored = case[1].as_array().unwrap().iter();
        let found: Vec<&Value> = stored
            .filter(|stored| {
                let text = stored.as_str().unwrap().as_bytes();
                let kept = read_parameter(&declared, &settings, ValueUse::Store, 253, false, text);
                kept.unwrap() == sought
            })
            .collect();
        if found != case[5].as_array().unwrap().iter().collect::<Vec<_>>() {
            wrong.push(format!("{} {} {:?}: {found:?} is not {}", case[0], case[2], shown(&value), case[5]));
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken * 4 >= cases.len(), "only {taken} of {}", cases.len());
}

#[test]
fn double_is_printed_as_the_server_prints_it() {
    servers().iter().for_each(check_doubles);
}

fn check_doubles(recorded: &Value) {
    let (float8, settings) = ("float8".parse::<DeclaredType>().unwrap(), settings(recorded, "plain"));
    for case in recorded["doubles"].as_array().unwrap() {
        let bits = unhex(&case[0]);
        let canonical = read_parameter(&float8, &settings, ValueUse::Store, 5, false, &bits).unwrap();
        let text = mysql::encode_text(&float8, &settings, &canonical).unwrap();
        assert_eq!(shown(&text), case[1].as_str().unwrap());
        assert_eq!(mysql::encode_binary(&float8, &settings, &canonical), Ok(bits));
    }
}

/// The canonical text of a parameter, owned.
pub fn read_parameter(
    declared: &DeclaredType,
    settings: &Settings,
    use_: ValueUse,
    type_code: u8,
    unsigned: bool,
    bytes: &[u8],
) -> Result<Vec<u8>, ValueError> {
    mysql::read_parameter(declared, settings, use_, type_code, unsigned, bytes).map(Cow::into_owned)
}
