//! Before the first statement: encryption requests, logging in, cancelling, replication.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::*;
use fieldveil_postgres_wire::startup::{FirstPacket, ProtocolVersion, StartupMessage};

const PLUS: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
const SCRAM: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
/// As from the real server, to a StartupMessage without a user.
const NO_USER: &[u8] = b"SFATAL\0VFATAL\0C28000\0Mno user\0\0";

/// A connection whose StartupMessage went to the server.
fn authenticating(chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    dialogue.take_to_server();
    dialogue.chunk = chunk;
    dialogue
}

fn replicating(mode: &str) -> Vec<u8> {
    let parameters = [("user", "app"), ("database", "shop"), ("replication", mode)];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let mut out = Vec::new();
    StartupMessage { version: ProtocolVersion::V3_0, parameters }.encode(&mut out).unwrap();
    out
}

/// A replication connection that is up, under a plan without fields.
fn walsender(chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::new();
    dialogue.chunk = chunk;
    dialogue.client(&replicating("database"));
    assert!(dialogue.session.is_waiting() && dialogue.to_server.is_empty());
    dialogue.answer_fetches(Ok(&plan(&[])), Ok(&keys()));
    assert_eq!(dialogue.take_to_server(), replicating("database"));
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), ready(b'I')].concat());
    dialogue.take_to_client();
    dialogue
}

#[test]
fn offer_of_channel_binding_is_taken_out_at_every_split() {
    for chunk in 1..=PLUS.len() + 5 {
        let mut dialogue = authenticating(chunk);
        dialogue.server(&message(b'R', PLUS));
        assert_eq!(dialogue.take_to_client(), message(b'R', SCRAM));
        assert!(!dialogue.closed);
    }
}

#[test]
fn other_steps_of_logging_in_pass_as_they_came() {
    let md5 = message(b'R', b"\0\0\0\x05salt");
    let unasked = message(b'R', b"\0\0\0\x0aOAUTHBEARER\0SCRAM-SHA-256\0\0");
    let steps =
        [message(b'R', SCRAM), message(b'R', b"\0\0\0\x0br=nonce"), message(b'R', b"\0\0\0\x0cv=proof")];
    for said in [md5, unasked, steps.concat()] {
        let mut dialogue = authenticating(usize::MAX);
        dialogue.server(&said);
        assert_eq!(dialogue.take_to_client(), said);
    }
}

#[test]
fn offer_of_nothing_but_channel_binding_is_refused_and_logged() {
    let mut dialogue = authenticating(usize::MAX);
    dialogue.server(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"));
    assert_eq!(tags(&dialogue.to_client), "E");
    for part in [&b"FATAL"[..], b"0A000", b"TLS session, which the sidecar ends"] {
        assert!(contains(&dialogue.to_client, part));
    }
    assert!(dialogue.closed);
    assert!(dialogue.ports.borrow().lines.borrow().iter().any(|line| line.contains("TLS session")));
}

#[test]
fn malformed_offer_ends_the_connection_and_tells_the_client_nothing_of_it() {
    for body in [&b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0"[..], b"\0\0\0\x0aA\0\0B", b"\0\0", b"\0\0\0\0x"] {
        let mut dialogue = authenticating(usize::MAX);
        dialogue.server(&message(b'R', body));
        assert!(dialogue.closed && dialogue.to_client.is_empty());
    }
}

#[test]
fn encryption_that_the_server_grants_is_refused_and_logged() {
    let requests = [
        (FirstPacket::SSL_REQUEST_BYTES, b'S', "sslmode"),
        (FirstPacket::GSSENC_REQUEST_BYTES, b'G', "gssencmode"),
    ];
    for (request, yes, setting) in requests {
        let mut dialogue = Dialogue::new();
        dialogue.client(&request);
        assert_eq!(dialogue.take_to_server(), request);
        dialogue.server(&[yes]);
        assert_eq!(tags(&dialogue.to_client), "E");
        for part in ["FATAL", "0A000", "encryption request", setting] {
            assert!(contains(&dialogue.to_client, part.as_bytes()), "{part}");
        }
        assert!(dialogue.closed);
        assert!(
            dialogue.ports.borrow().lines.borrow().iter().any(|line| line.contains("encryption request"))
        );
    }
}

#[test]
fn encryption_that_the_server_declines_leads_to_a_plain_session() {
    let mut dialogue = Dialogue::new();
    for request in [FirstPacket::GSSENC_REQUEST_BYTES, FirstPacket::SSL_REQUEST_BYTES] {
        dialogue.client(&request);
        assert_eq!(dialogue.take_to_server(), request);
        dialogue.server(b"N");
        assert_eq!(dialogue.take_to_client(), b"N");
    }
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    assert_eq!(dialogue.take_to_server(), startup("app"));
}

#[test]
fn cancel_request_passes_without_plan_and_keys_whatever_its_keys_length() {
    for key in [4, 32, 256] {
        let mut packet = u32::try_from(12 + key).unwrap().to_be_bytes().to_vec();
        packet.extend([0x04, 0xd2, 0x16, 0x2e, 0, 0, 0, 7]);
        packet.extend(vec![9; key]);
        let mut dialogue = Dialogue::new();
        dialogue.chunk = 5;
        dialogue.client(&packet);
        assert_eq!(dialogue.take_to_server(), packet);
        assert!(dialogue.fetches.is_empty());
    }
}

#[test]
fn replication_waits_for_the_plan_and_is_refused_when_it_has_a_field() {
    let mut dialogue = Dialogue::new();
    dialogue.client(&replicating("database"));
    assert!(dialogue.session.is_waiting() && dialogue.to_server.is_empty());
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    assert!(!contains(&dialogue.to_server, b"replication"));
    dialogue.server(&message(b'E', NO_USER));
    for part in [&b"FATAL"[..], b"0A000", b"replication connections carry sealed rows past the field policy"]
    {
        assert!(contains(&dialogue.to_client, part));
    }
}

#[test]
fn physical_replication_is_refused_whatever_the_plan() {
    for mode in ["true", "on", "yes", "1", "T", "nonsense", "DATABASE", ""] {
        let mut dialogue = Dialogue::new();
        dialogue.client(&replicating(mode));
        assert!(dialogue.fetches.is_empty(), "{mode}");
        assert!(!contains(&dialogue.to_server, b"replication"), "{mode}");
        dialogue.server(&message(b'E', NO_USER));
        assert!(contains(&dialogue.to_client, b"copies the whole server"), "{mode}");
    }
}

#[test]
fn replication_switched_off_is_an_ordinary_session() {
    for mode in ["false", "off", "no", "0", "F", "OF", "n"] {
        let mut dialogue = Dialogue::new();
        dialogue.client(&replicating(mode));
        dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
        assert_eq!(dialogue.to_server, replicating(mode), "{mode}");
    }
}

#[test]
fn replication_stream_passes_both_ways_as_it_came_and_the_session_goes_on() {
    let copy = |what: &[u8]| message(b'd', what);
    for chunk in [1, 7, usize::MAX] {
        let mut dialogue = walsender(chunk);
        let start = query("START_REPLICATION SLOT s LOGICAL 0/0");
        dialogue.client(&start);
        let stream = [message(b'W', b"\0\0\0"), copy(b"wINSERT"), copy(b"k"), copy(b"w")].concat();
        dialogue.server(&stream);
        let replies = [copy(b"rflushed"), copy(b"rflushed"), message(b'c', b"")].concat();
        dialogue.client(&replies);
        let end =
            [message(b'c', b""), complete("COPY 0"), complete("START_REPLICATION"), ready(b'I')].concat();
        dialogue.server(&end);
        let next = query("IDENTIFY_SYSTEM");
        dialogue.client(&next);
        let answer = [row_description(&[("systemid", 0)]), data_row(&[Some(b"7".to_vec())])].concat();
        let answer = [answer, complete("IDENTIFY_SYSTEM"), ready(b'I')].concat();
        dialogue.server(&answer);
        assert_eq!(dialogue.to_server, [start, replies, next].concat());
        assert_eq!(dialogue.to_client, [stream, end, answer].concat());
        assert!(!dialogue.closed && !dialogue.session.is_waiting());
    }
}

#[test]
fn replication_connection_takes_no_more_statements_once_the_plan_has_a_field() {
    let mut dialogue = walsender(usize::MAX);
    dialogue.ports.borrow_mut().now_ms += 301_000;
    dialogue.client(&query("START_REPLICATION SLOT s LOGICAL 0/0"));
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    assert!(!contains(&dialogue.take_to_server(), b"START_REPLICATION"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"past the field policy"));
}
