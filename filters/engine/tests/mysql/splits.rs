//! Whatever way the bytes of a MySQL dialogue are cut, what comes out is the same; and what nothing protects comes out as
//! it went in.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;
use proptest::prelude::*;

const CANARY: &[u8] = b"078-05-1120";

/// What both sides see of one dialogue, cut into chunks of `size` bytes.
fn dialogue_in_chunks(size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut dialogue = Dialogue::ready(&revealing(), size);
    dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'likes äöü')"));
    dialogue.answer_questions();
    assert!(!contains(&dialogue.to_server, CANARY) && !contains(&dialogue.to_server, b"likes"));
    dialogue.server(&ok(1));
    let stored = sealed(&dialogue.to_server);
    dialogue.client(&query("SELECT * FROM customer WHERE notes LIKE 'x'"));
    dialogue.server(&error(1, 1065, "Query was empty"));
    dialogue.client(&query("SELECT ssn, name FROM customer WHERE ssn = '078-05-1120'"));
    let row = vec![Some(stored.as_slice()), None];
    dialogue.server(&rows("customer", &["ssn", "name"], &[row, vec![None, Some(b"Bob")]]));
    assert!(!dialogue.closed);
    assert!(!contains(&dialogue.to_server, CANARY));
    (dialogue.take_to_server(), dialogue.take_to_client())
}

fn sealed(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.windows(4).position(|w| w == b"fv1.").unwrap();
    bytes[start..].iter().copied().take_while(|b| *b != b'\'').collect()
}

#[test]
fn dialogue_comes_out_the_same_at_every_split() {
    let whole = dialogue_in_chunks(usize::MAX);
    assert!(contains(&whole.1, CANARY), "the row was not opened");
    assert!(contains(&whole.1, b"fieldveil: ") && !contains(&whole.1, b"Query was empty"), "no refusal");
    for size in 1..300 {
        assert_eq!(dialogue_in_chunks(size), whole, "in chunks of {size}");
    }
}

#[test]
fn refused_statement_reaches_the_server_as_an_empty_one() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&query("UPDATE customer SET name = notes WHERE ssn > '078-05-1120'"));
    assert_eq!(dialogue.to_server, packet(0, b"\x03"));
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert_eq!(dialogue.to_client[3..5], [1, 0xff], "an error in the place of the server's");
    assert!(contains(&dialogue.to_client, b"fieldveil: "));
    assert!(!contains(&dialogue.to_client, CANARY));
}

#[test]
fn statement_that_was_not_understood_is_a_parse_error() {
    let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
    dialogue.client(&query("SELECT ssn FROM customer WHERE ("));
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert_eq!(dialogue.to_client[5..7], 1064_u16.to_le_bytes());
}

#[test]
fn value_that_its_column_would_cut_is_refused() {
    // Of a declared text no length is too long, so that nothing but the value's own length tells.
    let fields: Vec<_> = revealing()
        .into_iter()
        .map(|mut field| {
            field["type"] = "text".into();
            field
        })
        .collect();
    let mut dialogue = Dialogue::ready(&fields, usize::MAX);
    dialogue.text_holds = "99";
    dialogue.client(&query("INSERT IGNORE INTO customer (notes) VALUES ('short')"));
    dialogue.answer_questions();
    dialogue.server(&ok(1));
    assert!(contains(&dialogue.to_server, b"fv1."), "a short value is sealed");
    dialogue.to_client.clear();
    let long = "x".repeat(99);
    dialogue.client(&query(&format!("INSERT IGNORE INTO customer (notes) VALUES ('{long}')")));
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert_eq!(dialogue.to_client[5..7], 1406_u16.to_le_bytes());
    assert!(contains(&dialogue.to_client, b"customer.notes") && contains(&dialogue.to_client, b"MEDIUMTEXT"));
}

proptest! {
    #[test]
    fn client_bytes_that_nothing_protects_pass_unchanged(
        texts in proptest::collection::vec("[a-z0-9 ,;*()'$\"-]{0,40}", 1..6),
        chunk in 1_usize..64,
    ) {
        let mut dialogue = Dialogue::ready(&[], chunk);
        for text in texts {
            dialogue.client(&query(&text));
            prop_assert_eq!(std::mem::take(&mut dialogue.to_server), query(&text));
            dialogue.server(&ok(1));
            prop_assert_eq!(std::mem::take(&mut dialogue.to_client), ok(1));
        }
    }

    #[test]
    fn server_bytes_that_nothing_protects_pass_unchanged(
        values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..300), 0..8),
        chunk in 1_usize..64,
    ) {
        let mut dialogue = Dialogue::with_catalog(&revealing(), chunk);
        dialogue.client(&query("SELECT a, b FROM orders"));
        let values: Vec<_> = values.iter().map(|value| vec![Some(value.as_slice()), None]).collect();
        let answer = rows("orders", &["a", "b"], &values);
        dialogue.server(&answer);
        prop_assert_eq!(dialogue.take_to_client(), answer);
    }

    #[test]
    fn no_bytes_of_either_side_panic(
        client in proptest::collection::vec(any::<u8>(), 0..300),
        server in proptest::collection::vec(any::<u8>(), 0..300),
        command in 0_u8..0x21,
    ) {
        let mut dialogue = Dialogue::new(&revealing(), usize::MAX);
        dialogue.server(&server);
        dialogue.client(&client);
        let mut dialogue = Dialogue::new(&revealing(), usize::MAX);
        dialogue.server(&greeting());
        dialogue.client(&packet(1, &client));
        dialogue.answer_fetches();
        dialogue.server(&packet(2, &server));
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&query("SELECT * FROM customer"));
        dialogue.server(&packet(1, &server));
        dialogue.server(&server);
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&packet(0, &[&[command], client.as_slice()].concat()));
        dialogue.server(&packet(1, &server));
    }
}
