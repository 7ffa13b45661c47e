//! A small corpus: real messages, each cut, flipped and lengthened everywhere.

use super::bodies::{ANSWERS, REQUESTS, Recode, body, first_packet, peeks, stream};

const REQUEST_BODIES: &[(u8, &[u8])] = &[
    (b'B', b"\0\0\0\0\0\0\0\0"),
    (b'B', b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x04\0\0\0\x07\xff\xff\xff\xff\0\x02\0\0\0\x01"),
    (b'C', b"Ss1\0"),
    (b'f', b"stopped\0"),
    (b'D', b"P\0"),
    (b'E', b"\0\0\0\0\0"),
    (b'H', b""),
    (b'P', b"s1\0INSERT INTO customer (ssn) VALUES ($1)\0\0\x01\0\0\0\x19"),
    (b'Q', b"BEGIN; SELECT 1\0"),
    (b'S', b""),
    (b'X', b""),
];

const ANSWER_BODIES: &[(u8, &[u8])] = &[
    (b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
    (b'C', b"SELECT 1\0"),
    (b'D', b"\0\0"),
    (b'D', b"\0\x03\0\0\0\x011\xff\xff\xff\xff\0\0\0\x05fv1.x"),
    (b'E', b"SERROR\0VERROR\0C42601\0Msyntax error\0P1\0\0"),
    (b't', b"\0\x01\0\0\0\x19"),
    (b'S', b"client_encoding\0UTF8\0"),
    (b'Z', b"T"),
    (b'T', b"\0\x01ssn\0\0\0\x40\0\0\x04\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"),
];

const FIRST_PACKETS: &[&[u8]] = &[
    b"\0\0\0\x08\x04\xd2\x16\x2f",
    b"\0\0\0\x08\x04\xd2\x16\x30",
    b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x07abcd",
    b"\0\0\0\x1d\0\x03\0\0user\0app\0database\0s\0\0",
    b"\0\0\0\x12\0\x03\0\x02user\0app\0\0",
];

/// The bytes, every beginning of them, and every one of them changed in a few ways.
fn mutations(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..=bytes.len()).map(|end| bytes[..end].to_vec()).collect();
    for at in 0..bytes.len() {
        for with in [0x00, 0x01, 0x7f, 0x80, 0xff, bytes[at] ^ 0x01] {
            let mut changed = bytes.to_vec();
            changed[at] = with;
            all.push(changed);
        }
    }
    all.extend([[bytes, b"\0"].concat(), [bytes, bytes].concat()]);
    all
}

fn check(corpus: &[(u8, &[u8])], table: &[(u8, Recode)]) {
    let mut dialogue = Vec::new();
    for (tag, message) in corpus {
        assert!(body(table, *tag, message), "{}", char::from(*tag));
        for mutation in mutations(message) {
            body(table, *tag, &mutation);
            peeks(&mutation);
        }
        dialogue.push(*tag);
        dialogue.extend_from_slice(&(u32::try_from(message.len()).unwrap() + 4).to_be_bytes());
        dialogue.extend_from_slice(message);
    }
    assert_eq!(stream(&dialogue, table), corpus.len());
    for mutation in mutations(&dialogue) {
        stream(&mutation, table);
    }
    for (tag, _) in table {
        assert!(corpus.iter().any(|(known, _)| known == tag), "{} has no sample", char::from(*tag));
    }
}

#[test]
fn requests_of_the_corpus_come_back_and_their_mutations_do_no_harm() {
    check(REQUEST_BODIES, REQUESTS);
}

#[test]
fn answers_of_the_corpus_come_back_and_their_mutations_do_no_harm() {
    check(ANSWER_BODIES, ANSWERS);
}

#[test]
fn first_packets_of_the_corpus_are_read_and_their_mutations_do_no_harm() {
    for packet in FIRST_PACKETS {
        assert!(first_packet(packet));
        for mutation in mutations(packet) {
            first_packet(&mutation);
        }
    }
}
