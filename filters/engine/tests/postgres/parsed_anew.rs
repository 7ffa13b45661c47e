//! What was prepared before the keys changed, and how it goes on.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::keys::*;
use crate::support::*;
use fieldveil_postgres_wire::frontend::{Close, Target};

#[test]
fn a_statement_prepared_under_one_key_is_parsed_anew_when_there_are_two_and_again_when_there_is_one() {
    for chunk in [usize::MAX, 7, 1] {
        let mut dialogue = Dialogue::with_catalog_in_chunks(&revealing(), chunk);
        dialogue.give_keys(&keys_among("a"));
        let sent = parsed(&mut dialogue, "s", SEARCH);
        assert!(contains(&sent, b"ssn = $1\0"));
        let (a, b) = (sealed_under("a"), sealed_under("b"));
        for (keys, sent_tags, text, expected) in [
            ("a", "BES", "", vec![&a]),
            ("ab", "CPBES", "ssn = ANY ($1::text[])\0", vec![&a, &b]),
            ("ba", "BES", "", vec![&b, &a]),
            ("b", "CPBES", "ssn = $1\0", vec![&b]),
        ] {
            dialogue.give_keys(&keys_among(keys));
            let sent = bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
            assert_eq!(tags(&sent), sent_tags, "{keys}");
            assert!(text.is_empty() || contains(&sent, text.as_bytes()), "{keys}");
            assert_eq!(envelopes(&sent), expected.into_iter().cloned().collect::<Vec<_>>(), "{keys}");
            let anew =
                if sent_tags == "CPBES" { [message(b'3', b""), message(b'1', b"")].concat() } else { vec![] };
            dialogue.server(&[anew, message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
            assert_eq!(tags(&dialogue.take_to_client()), "2CZ", "{keys}");
        }
    }
}

#[test]
fn the_unnamed_statement_is_parsed_anew_in_its_own_place() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let sent = bound(&mut dialogue, "", &[CANARY.as_bytes()]);
    assert_eq!(tags(&sent), "PBES");
    dialogue.server(&[message(b'1', b""), message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.to_client), "2CZ");
}

#[test]
fn a_value_in_a_prepared_text_is_sealed_anew_when_keys_change() {
    let (a, b) = (sealed_under("a"), sealed_under("b"));
    for (text, under_both) in [
        (format!("SELECT id FROM customer WHERE ssn = '{CANARY}'"), vec![b.clone(), a.clone()]),
        (format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')"), vec![b.clone()]),
    ] {
        let mut dialogue = under("a");
        let sent = parsed(&mut dialogue, "s", &text);
        assert_eq!(envelopes(&sent), std::slice::from_ref(&a));
        assert_eq!(tags(&bound(&mut dialogue, "s", &[])), "BES");
        dialogue.server(&[message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat());
        dialogue.give_keys(&keys_among("ba"));
        let sent = bound(&mut dialogue, "s", &[]);
        assert_eq!((tags(&sent).as_str(), envelopes(&sent)), ("CPBES", under_both), "{text}");
    }
}

#[test]
fn what_could_not_be_parsed_anew_is_tried_again() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
    // The Close was done, the Parse failed: the server does not have the statement any more.
    dialogue.server(&[message(b'3', b""), server_error("25P02"), ready(b'E')].concat());
    let answer = dialogue.take_to_client();
    assert_eq!(tags(&answer), "EZ");
    assert!(contains(&answer, b"25P02"));
    dialogue.server(b"");
    dialogue.client(&query("ROLLBACK"));
    dialogue.server(&[complete("ROLLBACK"), ready(b'I')].concat());
    dialogue.take_to_client();
    dialogue.take_to_server();
    let sent = bound(&mut dialogue, "s", &[CANARY.as_bytes()]);
    assert_eq!(tags(&sent), "CPBES");
    dialogue.server(
        &[message(b'3', b""), message(b'1', b""), message(b'2', b""), complete("SELECT 0"), ready(b'I')]
            .concat(),
    );
    assert_eq!(tags(&dialogue.take_to_client()), "2CZ");
    assert_eq!(tags(&bound(&mut dialogue, "s", &[CANARY.as_bytes()])), "BES");
}

/// A session in which the server skipped the messages that parse `s` anew, for what stood before them failed.
fn skipped_parsing_anew() -> Dialogue {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    parsed(&mut dialogue, "one", "SELECT 1");
    dialogue.give_keys(&keys_among("ba"));
    let one = [bind("one", &[]), execute()].concat();
    dialogue.client(&[one, bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BECPBES");
    dialogue.server(&[message(b'2', b""), server_error("22012"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2EZ");
    dialogue
}

#[test]
fn what_was_skipped_while_it_was_parsed_anew_goes_again_behind_others_of_its_pipeline() {
    let mut dialogue = skipped_parsing_anew();
    let one = [bind("one", &[]), execute()].concat();
    // The server answers at the Sync: none of these may wait for an answer.
    dialogue.client(&[one, bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BECPBES");
    let row = [message(b'2', b""), complete("SELECT 0")].concat();
    let parsed = [message(b'3', b""), message(b'1', b"")].concat();
    dialogue.server(&[row.clone(), parsed, row, ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2C2CZ");
    assert_eq!(tags(&bound(&mut dialogue, "s", &[CANARY.as_bytes()])), "BES");
}

#[test]
fn what_was_skipped_while_it_was_parsed_anew_is_closed_or_replaced_behind_others_of_its_pipeline() {
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s" }.encode(&mut close).unwrap();
    for (last, sent) in [(close, "BECS"), (parse("s", SEARCH), "BEPS")] {
        let mut dialogue = skipped_parsing_anew();
        dialogue.client(&[bind("one", &[]), execute(), last, sync()].concat());
        assert_eq!(tags(&dialogue.take_to_server()), sent);
    }
}

#[test]
fn a_bind_behind_one_that_is_parsed_anew_waits_for_its_answer() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let one = [bind("s", &[CANARY.as_bytes()]), execute(), sync()].concat();
    dialogue.client(&[bind("s", &[CANARY.as_bytes()]), execute(), one.clone(), one].concat());
    // In the same pipeline it goes at once: what fails takes it along.
    assert_eq!(tags(&dialogue.take_to_server()), "CPBEBES");
    let row = [message(b'2', b""), complete("SELECT 0")].concat();
    let parsed = [message(b'3', b""), message(b'1', b"")].concat();
    dialogue.server(&[parsed, row.clone(), row.clone(), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_server()), "BES");
    dialogue.server(&[row, ready(b'I')].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "2C2CZ2CZ");
}

#[test]
fn a_statement_that_is_closed_is_not_parsed_anew() {
    let mut dialogue = under("a");
    parsed(&mut dialogue, "s", SEARCH);
    dialogue.give_keys(&keys_among("ba"));
    let mut close = Vec::new();
    Close { target: Target::Statement, name: b"s" }.encode(&mut close).unwrap();
    dialogue.client(&[close, bind("s", &[CANARY.as_bytes()]), sync()].concat());
    assert!(!contains(&dialogue.to_server, b"FROM customer"));
}

/// The catalog's rows with one more column.
fn rows_with_a_column() -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = catalog_rows();
    let mut added = rows[1].clone();
    (added[5], added[6]) = (Some(b"5".to_vec()), Some(b"added".to_vec()));
    rows.push(added);
    rows
}

/// The same for a table that was dropped and created again.
fn rows_of_a_table_created_anew() -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows = catalog_rows();
    rows.iter_mut().for_each(|row| row[0] = Some(b"16500".to_vec()));
    rows
}

/// The session's own DDL, then other keys; what a Bind becomes then, under the catalog that the server answers with.
fn bound_after_ddl(
    dialogue: &mut Dialogue,
    catalog: Vec<Vec<Option<Vec<u8>>>>,
    name: &str,
    values: &[&[u8]],
) -> String {
    dialogue.client(&query("ALTER TABLE customer ADD COLUMN added text"));
    dialogue.server(&[complete("ALTER TABLE"), ready(b'I')].concat());
    dialogue.take_to_client();
    dialogue.give_keys(&keys_among("ba"));
    dialogue.client(&[bind(name, values), execute(), sync()].concat());
    dialogue.take_to_server();
    dialogue.answer_catalog_with(catalog);
    tags(&dialogue.to_server)
}

#[test]
fn what_was_prepared_goes_on_when_tables_and_keys_have_both_changed() {
    let search = format!("SELECT id FROM customer WHERE ssn IN ('{CANARY}', $1)");
    for (text, values) in [
        (SEARCH, vec![CANARY.as_bytes()]),
        (search.as_str(), vec![CANARY.as_bytes()]),
        ("INSERT INTO customer (id, ssn) VALUES (1, '078-05-1120')", vec![]),
        ("DELETE FROM customer WHERE ssn = '078-05-1120'", vec![]),
    ] {
        for rows in [rows_with_a_column(), rows_of_a_table_created_anew()] {
            let mut dialogue = under("a");
            parsed(&mut dialogue, "s", text);
            let sent = bound_after_ddl(&mut dialogue, rows, "s", &values);
            assert_eq!(sent, "CPBES", "{text}");
            let row = [message(b'2', b""), complete("SELECT 0"), ready(b'I')].concat();
            dialogue.server(&[message(b'3', b""), message(b'1', b""), row].concat());
            assert_eq!(tags(&dialogue.take_to_client()), "2CZ", "{text}");
            dialogue.take_to_server();
            assert_eq!(tags(&bound(&mut dialogue, "s", &values)), "BES", "{text}");
        }
    }
}

#[test]
fn rows_of_a_statement_that_is_parsed_anew_are_treated_as_the_server_describes_them_now() {
    let mut dialogue = under("a");
    let description = row_description(&[("ssn", 3)]);
    dialogue.client(&[parse("s", "SELECT ssn FROM customer WHERE ssn = $1"), sync()].concat());
    let parameters = message(b't', &[0, 1, 0, 0, 0, 25]);
    dialogue.server(&[message(b'1', b""), parameters.clone(), description.clone(), ready(b'I')].concat());
    let sent = bound_after_ddl(&mut dialogue, rows_of_a_table_created_anew(), "s", &[CANARY.as_bytes()]);
    assert_eq!(sent, "CPDBES");
    let oid = description.windows(4).position(|bytes| bytes == 16400_u32.to_be_bytes()).unwrap();
    let mut created_anew = description;
    created_anew[oid..oid + 4].copy_from_slice(&16500_u32.to_be_bytes());
    dialogue.server(&[message(b'3', b""), message(b'1', b""), parameters, created_anew].concat());
    dialogue.server(&[message(b'2', b""), data_row(&[Some(sealed_under("a").into_bytes())])].concat());
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    assert_eq!(tags(&dialogue.to_client), "2DCZ");
    assert!(contains(&dialogue.to_client, CANARY.as_bytes()));
}

#[test]
fn what_returns_other_columns_than_it_did_is_not_parsed_anew() {
    for text in
        ["SELECT * FROM customer WHERE ssn = $1", "SELECT p.*, c.id FROM customer c, p WHERE ssn = $1"]
    {
        let mut dialogue = under("a");
        dialogue.client(&[parse("s", text), sync()].concat());
        dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
        bound_after_ddl(&mut dialogue, rows_with_a_column(), "s", &[CANARY.as_bytes()]);
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(
            contains(&dialogue.to_client, b"0A000") && contains(&dialogue.to_client, b"Prepare it again")
        );
    }
}
