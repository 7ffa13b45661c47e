//! Whatever way the bytes of a dialogue are cut, what comes out is the same; and what nothing protects comes
//! out as it went in.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use proptest::prelude::*;

/// What both sides see of one dialogue, cut into chunks of `size` bytes.
fn dialogue_in_chunks(size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut dialogue = Dialogue::with_catalog_in_chunks(&revealing(), size);
    dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'likes äöü')"));
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    dialogue.client(&query("SELECT * FROM customer WHERE notes LIKE 'x'"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let text = "SELECT ssn, name FROM customer WHERE ssn = $1";
    dialogue.client(&[parse("s", text), bind("s", &[b"078-05-1120"]), execute(), sync()].concat());
    let stored = sealed(&dialogue.to_server);
    let answer = [
        message(b'1', b""),
        message(b't', &[0, 1, 0, 0, 0, 25]),
        row_description(&[("ssn", 3), ("name", 2)]),
        message(b'2', b""),
        data_row(&[Some(stored), None]),
        message(b'N', b"SNOTICE\0\0"),
        data_row(&[None, Some(b"Bob".to_vec())]),
        complete("SELECT 2"),
        ready(b'I'),
    ];
    dialogue.server(&answer.concat());
    assert!(!dialogue.closed);
    (dialogue.take_to_server(), dialogue.take_to_client())
}

fn sealed(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.windows(4).position(|w| w == b"fv1.").unwrap();
    bytes[start..].iter().copied().take_while(|b| *b != b'\'').collect()
}

#[test]
fn dialogue_comes_out_the_same_at_every_split() {
    let whole = dialogue_in_chunks(usize::MAX);
    assert!(contains(&whole.1, b"078-05-1120"));
    for size in 1..400 {
        assert_eq!(dialogue_in_chunks(size), whole, "in chunks of {size}");
    }
}

fn frontend_message() -> impl Strategy<Value = Vec<u8>> {
    let text = "[a-z0-9 ,;*()'$\"-]{0,40}";
    prop_oneof![
        text.prop_map(|text| query(&text)),
        text.prop_map(|text| query(&format!("SELECT {text} FROM orders"))),
        text.prop_map(|text| [parse("p", &text), sync()].concat()),
        proptest::collection::vec(any::<u8>(), 0..50).prop_map(|body| message(b'd', &body)),
        Just(message(b'c', b"")),
        Just(message(b'H', b"")),
    ]
}

proptest! {
    #[test]
    fn client_bytes_that_nothing_protects_pass_unchanged(
        messages in proptest::collection::vec(frontend_message(), 1..12),
        chunk in 1_usize..64,
    ) {
        let mut dialogue = Dialogue::ready_in_chunks(&[], chunk);
        let bytes = messages.concat();
        dialogue.client(&bytes);
        prop_assert_eq!(dialogue.take_to_server(), bytes);
    }

    #[test]
    fn server_bytes_that_nothing_protects_pass_unchanged(
        rows in proptest::collection::vec(proptest::collection::vec(any::<Option<Vec<u8>>>(), 2), 0..8),
        chunk in 1_usize..64,
    ) {
        let mut dialogue = Dialogue::with_catalog_in_chunks(&revealing(), chunk);
        dialogue.client(&query("SELECT a, b FROM orders"));
        let mut answer = row_description(&[("a", 1), ("b", 2)]);
        for row in &rows {
            answer.extend(data_row(row));
        }
        answer.extend([complete("SELECT"), ready(b'I')].concat());
        dialogue.server(&answer);
        prop_assert_eq!(dialogue.take_to_client(), answer);
    }

    #[test]
    fn no_bytes_of_either_side_panic(
        client in proptest::collection::vec(any::<u8>(), 0..300),
        server in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut dialogue = Dialogue::new();
        dialogue.client(&client);
        dialogue.server(&server);
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(&query("SELECT * FROM customer"));
        dialogue.server(&server);
        dialogue.client(&client);
    }
}
