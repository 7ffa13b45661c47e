//! The content of a file that the server asks the client for.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

mod mysql_support;
mod support;

use mysql_support::*;

const PING: &[u8] = b"\x0e";

#[test]
fn empty_packet_that_ends_a_long_one_does_not_end_the_file() {
    let mut dialogue = Dialogue::ready(&[], usize::MAX);
    dialogue.to_server.clear();
    dialogue.client(&query("LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE orders"));
    dialogue.answer_fetches();
    dialogue.server(&packet(1, b"\xfbrows.csv"));
    let full = packet(2, &vec![b'x'; 0xff_ffff]);
    let file = [full, packet(3, b""), packet(4, b"last"), packet(5, b"")].concat();
    dialogue.to_server.clear();
    dialogue.client(&file);
    assert!(dialogue.to_server == file, "the file does not pass as it is");
    dialogue.server(&ok(6));
    dialogue.to_server.clear();
    dialogue.client(&packet(0, PING));
    assert_eq!(dialogue.to_server, packet(0, PING));
    assert!(!dialogue.closed);
}
