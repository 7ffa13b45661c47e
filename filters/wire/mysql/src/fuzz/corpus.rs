//! A small corpus: messages as servers and drivers send them, each cut, flipped and lengthened everywhere.

use super::bodies::{Choice, command, connection, response, stream};

pub(super) const CONNECTION: &[&[u8]] = &[
    b"\x0a5.5.5-10.11.6-MariaDB\0\x1f\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0mysql_native_password\0",
    b"\x0a8.4.0\0\x08\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0",
    b"\x8d\xae\xff\x19\0\0\0\x01\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    b"\x8d\xa6\xff\x19\0\0\0\x01\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0app\0\x04abcdshop\0caching_sha2_password\0\x08\x04_pid\x0242",
    b"\xfeclient_ed25519\0abcdefghijklmnopqrstuvwxyz012345",
    b"\x01\x04",
    b"\x02webauthn\0ab",
    b"\xff\x10\x04Too many connections",
];

pub(super) const COMMANDS: &[(u8, u8, &[u8])] = &[
    (0, 0, b"\x02shop"),
    (0, 0, b"\x03SELECT 'canary'"),
    (4, 0, b"\x03\0\x01SELECT 1"),
    (4, 0, b"\x03\x01\x01\0\x01\xfd\0\x05trace\x02abSELECT 1"),
    (0, 0, b"\x04customer\0%"),
    (0x38, 0, b"\x11app\0\x04abcdshop\0\x2d\0client_ed25519\0\x08\x04_pid\x0242"),
    (0, 0, b"\x16SELECT ssn FROM customer WHERE id = ?"),
    (0, 3, b"\x17\x07\0\0\0\0\x01\0\0\0\x02\x01\x02\0\x06\0\xfd\0\x01\0\x02ab"),
    (4, 1, b"\x17\x07\0\0\0\x08\x01\0\0\0\x02\0\x01\x08\x80\0\xfd\0\x05trace\x01\0\0\0\0\0\0\0\x02ab"),
    (0, 9, b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\xfc\0"),
    (0, 1, b"\x17\x07\0\0\0\0\x01\0\0\0\0\0\x02ab"),
    (0, 0, b"\x18\x07\0\0\0\0\0canary"),
    (0, 0, b"\x19\x07\0\0\0"),
    (0, 0, b"\x1a\x07\0\0\0"),
    (0, 0, b"\x1b\x01\0"),
    (0, 0, b"\x1c\x07\0\0\0\x0a\0\0\0"),
    (0, 0, b"\x1f"),
    (0, 0, b"\xfa\x07\0\0\0\x80\0\xfd\0\0\x02ab"),
];

pub(super) const RESPONSES: &[(u8, u8, &[u8])] = &[
    (0, 0, b"\0\x01\x07\x02\0\0\0canary"),
    (1, 0, b"\0\0\0\x02\x40\0\0\0\x07\x01\x05\x04shop"),
    (1, 0, b"\0\0\0\x02\x40\0\0\0\x11\0\x0f\x0aautocommit\x03OFF"),
    (2, 0, b"\xfe\0\0\x02\0\0\0"),
    (0, 0, b"\xfe\0\0\x22\0"),
    (0, 0, b"\xff\x76\x04#42000canary"),
    (0, 0, b"\xfb/tmp/rows.csv"),
    (0, 0, b"\x03"),
    (0, 0, b"\x03def\x04shop\x01c\x08customer\x03ssn\x03ssn\x0c\x2d\0\xfc\x03\0\0\xfd\0\0\0\0\0"),
    (0x40, 0, b"\x03def\x04shop\x01c\x01c\x02id\x02id\x06\0\x04uuid\x0c\x3f\0\x10\0\0\0\xfe\x81\x40\0\0\0"),
    (0, 0, b"\x03def\x04shop\x01c\x01c\x02id\x02id\x0c\x3f\0\x0b\0\0\0\x03\x03\x42\0\0\0\xfb"),
    (0, 0, b"\0\x07\0\0\0\x02\0\x01\0\0\0\0"),
    (0, 3, b"\x011\xfb\x06canary"),
    (0, 2, b"\0\0\x01\0\0\0\x01\0\0\0"),
    (0, 9, b"\0\x08\x04\xe8\x07\x01\x02"),
];

/// The bytes, every beginning of them, and every one of them changed in a few ways.
fn mutations(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..=bytes.len()).map(|end| bytes[..end].to_vec()).collect();
    for at in 0..bytes.len() {
        for with in [0x00, 0x01, 0x7f, 0xfb, 0xfc, 0xfe, 0xff, bytes[at] ^ 0x01] {
            let mut changed = bytes.to_vec();
            changed[at] = with;
            all.push(changed);
        }
    }
    all.extend([[bytes, b"\0"].concat(), [bytes, bytes].concat()]);
    all
}

/// Every message is read; none of its mutations, read as anything, does harm. The messages make a dialogue, too.
fn check(corpus: impl Iterator<Item = (Choice, &'static [u8])>, read: impl Fn(&[u8], Choice) -> bool) {
    let (mut dialogue, mut messages) = (Vec::new(), 0);
    for (choice, message) in corpus {
        assert!(read(message, choice), "message {messages}");
        for mutation in mutations(message) {
            for flags in [0, 0xff] {
                read(&mutation, Choice::of(flags, choice.number));
            }
            read(&mutation, choice);
        }
        dialogue.extend_from_slice(&[u8::try_from(message.len()).unwrap(), 0, 0, 0]);
        dialogue.extend_from_slice(message);
        messages += 1;
    }
    assert_eq!(stream(&dialogue, |_| ()), messages);
    for mutation in mutations(&dialogue) {
        stream(&mutation, |payload| {
            read(payload, Choice::of(0x5a, 3));
        });
    }
}

fn chosen(corpus: &'static [(u8, u8, &'static [u8])]) -> impl Iterator<Item = (Choice, &'static [u8])> {
    corpus.iter().map(|(flags, number, message)| (Choice::of(*flags, *number), *message))
}

#[test]
fn packets_of_the_handshake_are_read_and_their_mutations_do_no_harm() {
    let corpus = CONNECTION.iter().map(|message| (Choice::of(0, 0), *message));
    check(corpus, |payload, _| connection(payload) > 0);
}

#[test]
fn commands_of_the_corpus_come_back_and_their_mutations_do_no_harm() {
    check(chosen(COMMANDS), command);
}

#[test]
fn answers_of_the_corpus_come_back_and_their_mutations_do_no_harm() {
    check(chosen(RESPONSES), |payload, choice| response(payload, choice) > 0);
}
