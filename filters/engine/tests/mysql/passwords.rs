//! A password that a client sends as it is goes to no server behind a network.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

const PASSWORD: &[u8] = b"correct horse battery staple\0";
/// AuthMoreData: the server does not remember the password.
const FULL: &[u8] = b"\x01\x04";

/// A client that has sent its HandshakeResponse, of an empty proof, to a server that is reached so.
fn logging_in(server_is_private: bool) -> Dialogue {
    logging_in_in_chunks(server_is_private, usize::MAX)
}

fn logging_in_in_chunks(server_is_private: bool, chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::new(&revealing(), chunk);
    dialogue.ports.borrow_mut().server_is_private = server_is_private;
    dialogue.server(&greeting());
    dialogue.client(&handshake_response());
    dialogue.answer_fetches();
    dialogue.to_server.clear();
    dialogue.to_client.clear();
    dialogue
}

/// The client was told, and the server got an empty answer and no password.
fn assert_refused(dialogue: &mut Dialogue, number: u8) {
    assert_eq!(dialogue.to_server, packet(number, b""));
    dialogue.server(&error(number + 1, 1045, "Access denied"));
    let told = &dialogue.to_client;
    assert_eq!(told[3..7], [number + 1, 0xff, 0x15, 0x04], "ERR 1045");
    assert!(contains(told, b"sends its password as it is") && !contains(told, b"Access denied"));
    assert!(dialogue.closed);
}

#[test]
fn password_of_a_full_authentication_is_refused_on_the_way_to_a_network() {
    for chunk in [1, 2, 3, 7, usize::MAX] {
        let mut dialogue = logging_in_in_chunks(false, chunk);
        dialogue.server(&packet(2, FULL));
        assert_eq!(dialogue.to_client, packet(2, FULL));
        dialogue.to_client.clear();
        dialogue.client(&packet(3, PASSWORD));
        assert_refused(&mut dialogue, 3);
    }
}

#[test]
fn password_passes_to_a_server_that_no_network_lies_before() {
    let mut dialogue = logging_in(true);
    dialogue.server(&packet(2, FULL));
    dialogue.client(&packet(3, PASSWORD));
    assert_eq!(dialogue.to_server, packet(3, PASSWORD));
}

#[test]
fn encrypted_password_passes_to_any_server() {
    let mut dialogue = logging_in(false);
    dialogue.server(&packet(2, FULL));
    dialogue.client(&packet(3, b"\x02"));
    dialogue.server(&packet(4, b"\x01-----BEGIN PUBLIC KEY-----"));
    let encrypted: Vec<u8> = (0..=255).rev().collect();
    dialogue.client(&packet(5, &encrypted));
    assert_eq!(dialogue.to_server, [packet(3, b"\x02"), packet(5, &encrypted)].concat());
    dialogue.server(&ok(6));
    assert!(!dialogue.closed);
}

#[test]
fn server_cannot_switch_a_client_to_its_password_in_clear() {
    let switches: [&[u8]; 4] = [
        b"\xfemysql_clear_password\0",
        b"\xfedialog\0\x04Password: ",
        b"\xfesha256_password\0abcdefghijklmnopqrst\0",
        b"\x02mysql_clear_password\0",
    ];
    for switch in switches {
        let mut dialogue = logging_in(false);
        dialogue.server(&packet(2, switch));
        dialogue.to_client.clear();
        dialogue.client(&packet(3, PASSWORD));
        assert_refused(&mut dialogue, 3);
    }
}

#[test]
fn proofs_pass_whatever_the_server_switches_to() {
    let proofs: [(&[u8], usize); 3] =
        [(b"mysql_native_password", 20), (b"client_ed25519", 64), (b"caching_sha2_password", 32)];
    for (plugin, length) in proofs {
        let mut dialogue = logging_in(false);
        dialogue.server(&packet(2, &[b"\xfe", plugin, b"\0abcdefghijklmnopqrst\0"].concat()));
        dialogue.client(&packet(3, &vec![b'x'; length]));
        assert_eq!(dialogue.to_server, packet(3, &vec![b'x'; length]));
    }
}

#[test]
fn password_in_the_first_packet_and_in_a_change_of_the_user_is_refused() {
    let mut dialogue = Dialogue::new(&revealing(), usize::MAX);
    dialogue.server(&greeting());
    dialogue.client(&handshake_response_with(b"mysql_clear_password", PASSWORD));
    dialogue.answer_fetches();
    assert!(!contains(&dialogue.to_server, b"horse"));

    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    let parts: [&[u8]; 6] =
        [b"\x11other\0", &[29], PASSWORD, b"shop\0", &45_u16.to_le_bytes(), b"mysql_clear_password\0"];
    dialogue.client(&packet(0, &parts.concat()));
    assert_eq!(dialogue.to_server, packet(0, b"\x03"), "an empty text in its place");
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert!(contains(&dialogue.to_client, b"sends its password as it is"));
}
