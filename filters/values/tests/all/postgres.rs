//! Held against what a real PostgreSQL 18 makes of the same inputs: agree or refuse, never disagree.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::collections::BTreeMap;

use fieldveil_values::{DeclaredType, decode_binary};

/// Type, input, the server's text, the server's binary; no answer where the server refuses.
type Case = (String, String, Option<String>, Option<String>);

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../../testdata/postgres-18.json")).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn canonical_text_and_binary_are_the_servers_or_the_input_is_refused() {
    let mut taken: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, input, text, binary) in cases() {
        let declared: DeclaredType = name.parse().unwrap();
        let count = taken.entry(name.clone()).or_default();
        count.1 += usize::from(text.is_some());
        let Ok(canonical) = declared.canonicalize(input.as_bytes()) else { continue };
        let (Some(text), Some(binary)) = (text, binary) else {
            wrong.push(format!("{name} {input:?}: the server refuses, we take it"));
            continue;
        };
        count.0 += 1;
        let shown = declared.encode_text(&canonical).unwrap();
        if shown != text.as_bytes() {
            wrong.push(format!("{name} {input:?}: text {} is not {text}", String::from_utf8_lossy(&shown)));
        }
        match declared.encode_binary(&canonical) {
            Ok(bytes) if hex(&bytes) == binary => {}
            other => {
                wrong.push(format!("{name} {input:?}: binary {:?} is not {binary}", other.map(|b| hex(&b))))
            }
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    // Refusing everything would pass the loop above; most of the timestamps have no zone, or one by name.
    for (name, (ours, servers)) in taken {
        assert!(ours * 5 >= servers, "{name}: only {ours} of the {servers} inputs that the server takes");
    }
}

#[test]
fn binary_values_of_the_server_decode_to_its_text() {
    let mut wrong = Vec::new();
    for (name, input, text, binary) in cases() {
        let (Some(text), Some(binary)) = (text, binary) else { continue };
        let declared: DeclaredType = name.parse().unwrap();
        match decode_binary(declared.oid(), &unhex(&binary)) {
            Ok(decoded) if decoded == text.as_bytes() => {}
            // Beyond the digits we take, or rounded to what the server itself does not read.
            Err(_) if text.len() > 300 || text.starts_with("294277-") => {}
            other => wrong.push(format!(
                "{name} {input:?}: {:?} is not {text}",
                other.map(|b| String::from_utf8_lossy(&b).into_owned())
            )),
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn canonical_form_is_a_fixed_point() {
    for (name, input, ..) in cases() {
        let declared: DeclaredType = name.parse().unwrap();
        let Ok(canonical) = declared.canonicalize(input.as_bytes()) else { continue };
        assert_eq!(declared.canonicalize(&canonical), Ok(canonical.clone()), "{name} {input:?}");
    }
}

#[test]
fn errors_hold_no_part_of_the_value() {
    for (name, input, ..) in cases().into_iter().filter(|case| case.1.len() > 5) {
        let declared: DeclaredType = name.parse().unwrap();
        if let Err(error) = declared.canonicalize(input.as_bytes()) {
            assert!(!format!("{error} {error:?}").contains(&input), "{name}");
        }
    }
}
