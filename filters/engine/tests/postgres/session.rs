//! What a session promises, between a scripted client and a scripted server.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::type_complexity,
    clippy::unwrap_used
)]

use crate::support::*;
use fieldveil_engine::audit::Ended;
use serde_json::json;

const CANARY: &str = "078-05-1120";

/// The sealed literal in what went to the server.
fn sealed_in(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.windows(4).position(|w| w == b"fv1.").expect("nothing is sealed");
    bytes[start..].iter().copied().take_while(|b| b.is_ascii_alphanumeric() || b"._-".contains(b)).collect()
}

#[test]
fn startup_waits_for_plan_and_keys_then_goes_on_unchanged() {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    assert!(dialogue.session.is_waiting());
    assert!(dialogue.to_server.is_empty());
    dialogue.answer_fetches(Ok(&plan(&revealing())), Ok(&keys()));
    assert_eq!(dialogue.to_server, startup("app"));
}

#[test]
fn startup_without_opa_or_agent_is_refused_with_57p03_naming_the_part_and_recovers() {
    let plan = plan(&revealing());
    let keys = keys();
    let cases: [(Result<&[u8], &str>, Result<&[u8], &str>, &str); 3] = [
        (Err("down"), Ok(&keys), "policy (OPA)"),
        (Ok(&plan), Err("down"), "key agent"),
        (Ok(&plan), Ok(br#"{"revision":"1","keysets":{}}"#), "keyset pii"),
    ];
    for (plan, keys, part) in cases {
        let mut dialogue = Dialogue::new();
        dialogue.client(&startup("app"));
        dialogue.answer_fetches(plan, keys);
        assert!(!contains(&dialogue.to_server, b"app"), "the startup packet must not be forwarded");
        dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C28000\0Mno user\0\0"));
        assert!(contains(&dialogue.to_client, b"57P03"), "{part}");
        assert!(contains(&dialogue.to_client, part.as_bytes()), "{part}");
    }
}

#[test]
fn literal_is_sealed_and_comes_back() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query(&format!("INSERT INTO customer (id, ssn) VALUES (1, '{CANARY}')")));
    let sent = dialogue.take_to_server();
    assert!(!contains(&sent, CANARY.as_bytes()));
    let stored = sealed_in(&sent);
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    dialogue.take_to_client();

    dialogue.client(&query("SELECT ssn, name FROM customer"));
    let row = data_row(&[Some(stored), Some(b"Ada".to_vec())]);
    dialogue.server(
        &[row_description(&[("ssn", 3), ("name", 2)]), row, complete("SELECT 1"), ready(b'I')].concat(),
    );
    let expected = data_row(&[Some(CANARY.into()), Some(b"Ada".to_vec())]);
    assert!(contains(&dialogue.take_to_client(), &expected));
}

#[test]
fn bound_value_is_sealed() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let text = "INSERT INTO customer (id, ssn) VALUES ($1, $2)";
    dialogue.client(&[parse("s", text), bind("s", &[b"1", CANARY.as_bytes()]), execute(), sync()].concat());
    let sent = dialogue.take_to_server();
    assert!(!contains(&sent, CANARY.as_bytes()));
    assert!(contains(&sent, b"fv1."));
}

#[test]
fn refused_query_is_replaced_and_answered_in_its_place() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(
        &[query("SELECT 1"), query(&format!("SELECT 1 FROM customer WHERE ssn LIKE '{CANARY}%'"))].concat(),
    );
    let sent = dialogue.take_to_server();
    assert_eq!(tags(&sent), "QQ");
    assert!(!contains(&sent, CANARY.as_bytes()));
    dialogue.server(&[complete("SELECT 1"), ready(b'I'), server_error("42601"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert_eq!(tags(&told), "CZEZ");
    assert!(contains(&told, b"0A000") && contains(&told, b"customer.ssn"));
    assert!(!contains(&told, b"the server's own text"));
}

#[test]
fn refused_bind_forwards_nothing_up_to_sync() {
    let mut fields = revealing();
    fields[0] = field("ssn", "deterministic", "date", json!({"treatment": "reveal"}), "seal");
    let mut dialogue = Dialogue::with_catalog(&fields);
    let text = "INSERT INTO customer (id, ssn) VALUES ($1, $2)";
    let pipeline =
        [parse("s", text), bind("s", &[b"1", CANARY.as_bytes()]), execute(), sync(), query("SELECT 1")];
    dialogue.client(&pipeline.concat());
    let sent = dialogue.take_to_server();
    assert_eq!(tags(&sent), "PPSQ");
    assert!(!contains(&sent, CANARY.as_bytes()));
    dialogue.server(
        &[message(b'1', b""), server_error("42601"), ready(b'I'), complete("SELECT 1"), ready(b'I')].concat(),
    );
    let told = dialogue.take_to_client();
    assert_eq!(tags(&told), "1EZCZ");
    assert!(contains(&told, b"22P02") && !contains(&told, CANARY.as_bytes()));
}

#[test]
fn statement_of_a_failed_parse_is_taken_back() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let sealing = "INSERT INTO customer (id, ssn) VALUES ($1, $2)";
    dialogue.client(&[parse("s", sealing), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    // The server refuses to prepare under a name that is taken: it still has the first statement.
    dialogue.client(&[parse("s", "SELECT $1, $2"), sync()].concat());
    dialogue.server(&[server_error("42P05"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&[bind("s", &[b"1", CANARY.as_bytes()]), execute(), sync()].concat());
    assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
}

#[test]
fn bind_waits_until_it_is_known_which_statement_the_server_has() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    let sealing = "INSERT INTO customer (id, ssn) VALUES ($1, $2)";
    dialogue.client(&[parse("s", sealing), sync()].concat());
    dialogue.server(&[message(b'1', b""), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(
        &[parse("s", "SELECT $1, $2"), sync(), bind("s", &[b"1", CANARY.as_bytes()]), sync()].concat(),
    );
    assert_eq!(tags(&dialogue.take_to_server()), "PS");
    dialogue.server(&[server_error("42P05"), ready(b'I')].concat());
    let sent = dialogue.take_to_server();
    assert_eq!(tags(&sent), "BS");
    assert!(contains(&sent, b"fv1.") && !contains(&sent, CANARY.as_bytes()));
}

#[test]
fn unreadable_row_is_an_error_and_nothing_more_of_the_answer() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("SELECT ssn FROM customer"));
    let bad = data_row(&[Some(CANARY.into())]);
    dialogue.server(
        &[row_description(&[("ssn", 3)]), bad.clone(), bad, complete("SELECT 2"), ready(b'I')].concat(),
    );
    let told = dialogue.take_to_client();
    assert_eq!(tags(&told), "TEZ");
    assert!(
        contains(&told, b"XX001") && contains(&told, b"customer.ssn") && !contains(&told, CANARY.as_bytes())
    );
    assert!(!dialogue.closed);
}

#[test]
fn unreadable_row_of_a_write_ends_the_session() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("UPDATE customer SET name = 'x' WHERE id = 1 RETURNING ssn"));
    dialogue.server(&[row_description(&[("ssn", 3)]), data_row(&[Some(CANARY.into())])].concat());
    assert!(contains(&dialogue.to_client, b"FATAL"));
    assert!(dialogue.closed);
}

#[test]
fn treatments_show_what_the_policy_says() {
    let treatments = [
        (json!({"treatment": "reveal"}), Some(CANARY)),
        (json!({"treatment": "mask", "format": "last4"}), Some("***-**-1120")),
        (json!({"treatment": "null"}), None),
    ];
    for (treatment, expected) in treatments {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
        let stored = sealed_in(&dialogue.to_server);
        let fields = [field("ssn", "deterministic", "text", treatment.clone(), "refuse")];
        let mut reader = Dialogue::with_catalog(&fields);
        reader.client(&query("SELECT * FROM customer"));
        let described = row_description(&[("ssn", 3)]);
        reader.server(&[described, data_row(&[Some(stored)]), complete("SELECT 1"), ready(b'I')].concat());
        let expected = data_row(&[expected.map(Into::into)]);
        assert!(contains(&reader.to_client, &expected), "{treatment}");
    }
}

#[test]
fn concealed_value_passes_as_stored_and_refused_one_is_denied() {
    let conceal = [field("ssn", "deterministic", "text", json!({"treatment": "conceal"}), "refuse")];
    let mut dialogue = Dialogue::with_catalog(&conceal);
    dialogue.client(&query("SELECT ssn FROM customer"));
    let row = data_row(&[Some(b"fv1.anything".to_vec())]);
    dialogue
        .server(&[row_description(&[("ssn", 3)]), row.clone(), complete("SELECT 1"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, &row));
    for denied in [
        format!("SELECT id FROM customer WHERE ssn = '{CANARY}'"),
        format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')"),
    ] {
        dialogue.take_to_server();
        dialogue.take_to_client();
        dialogue.client(&query(&denied));
        assert!(!contains(&dialogue.to_server, CANARY.as_bytes()), "{denied}");
        dialogue.server(&[server_error("42601"), ready(b'I')].concat());
        assert!(contains(&dialogue.to_client, b"42501"), "{denied}");
    }
}

#[test]
fn broken_client_gets_08p01_and_nothing_of_it_goes_on() {
    let broken: [&[u8]; 5] = [
        b"\xffabcd",
        b"Q\0\0\0\x03",
        b"Q\x7f\xff\xff\xff",
        b"Q\0\0\0\x08a\0bc",
        b"B\0\0\0\x0c\0\0\0\0\0\x05\0\0",
    ];
    for bytes in broken {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        dialogue.client(bytes);
        dialogue.client(&query(CANARY));
        assert_eq!(dialogue.to_server, [0xff, 0, 0, 0, 4], "{bytes:?}");
        dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C08P01\0Minvalid frontend message type 255\0\0"));
        assert!(
            contains(&dialogue.to_client, b"08P01") && contains(&dialogue.to_client, b"fieldveil"),
            "{bytes:?}"
        );
    }
}

#[test]
fn encryption_answer_that_cannot_be_followed_is_an_error() {
    let mut dialogue = Dialogue::new();
    dialogue.client(&[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
    dialogue.server(b"S");
    assert_eq!(tags(&dialogue.to_client), "E");
    assert!(dialogue.closed);
    let mut dialogue = Dialogue::new();
    dialogue.client(&[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
    dialogue.server(b"N");
    assert_eq!((dialogue.to_client.as_slice(), dialogue.closed), (&b"N"[..], false));
}

#[test]
fn a_statement_waits_for_the_catalog_and_its_question_is_not_seen() {
    let mut dialogue = Dialogue::ready(&revealing());
    dialogue.client(&query("SELECT 1"));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCS");
    dialogue.answer_catalog();
    assert_eq!(dialogue.take_to_server(), query("SELECT 1"));
    assert!(dialogue.to_client.is_empty());
}

#[test]
fn catalog_is_read_again_after_ddl_and_when_it_is_old() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    // It has nothing to do with the catalog.
    dialogue.client(&query("CREATE TABLE other (id int)"));
    dialogue.server(&[complete("CREATE TABLE"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&query("CREATE VIEW shown AS SELECT id FROM customer"));
    assert_eq!(tags(&dialogue.take_to_server()), "Q");
    dialogue.server(&[complete("CREATE VIEW"), ready(b'I')].concat());
    dialogue.client(&query("SELECT 1"));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCS");
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.ports.borrow_mut().now_ms += 61_000;
    dialogue.client(&query("SELECT 1"));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCS");
}

#[test]
fn end_of_a_transaction_that_changed_the_catalog_has_it_read_again() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("BEGIN"));
    dialogue.server(&[complete("BEGIN"), ready(b'T')].concat());
    dialogue.status = b'T';
    dialogue.client(&query("SET LOCAL search_path = app"));
    dialogue.server(&[complete("SET"), ready(b'T')].concat());
    dialogue.client(&query("SELECT 1"));
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 1"), ready(b'T')].concat());
    dialogue.client(&query("COMMIT"));
    dialogue.status = b'I';
    dialogue.server(&[complete("COMMIT"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.client(&query("SELECT 1"));
    assert_eq!(tags(&dialogue.take_to_server()), "PBECCS");
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 1"), ready(b'I')].concat());
    for plain in ["BEGIN", "ROLLBACK", "SELECT 1"] {
        dialogue.take_to_server();
        dialogue.client(&query(plain));
        assert_eq!(dialogue.take_to_server(), query(plain));
        dialogue.server(&[complete(plain), ready(b'I')].concat());
    }
}

#[test]
fn protected_column_that_the_table_does_not_have_is_told_in_the_log() {
    let mut fields = revealing();
    fields.push(field("snn", "randomized", "text", json!({"treatment": "reveal"}), "seal"));
    let dialogue = Dialogue::with_catalog(&fields);
    let ports = dialogue.ports.borrow();
    assert!(ports.lines.borrow().iter().any(|line| line.contains("public.customer.snn")));
}

#[test]
fn catalog_that_cannot_be_read_refuses_the_statement() {
    let mut dialogue = Dialogue::ready(&revealing());
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    dialogue.server(&[server_error("42501"), ready(b'I')].concat());
    assert!(!contains(&dialogue.to_server, CANARY.as_bytes()));
    assert!(dialogue.to_client.is_empty());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.to_client, b"57P03") && contains(&dialogue.to_client, b"catalog"));
}

#[test]
fn in_a_failed_transaction_only_its_end_is_forwarded() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query("ALTER TABLE customer ADD COLUMN x int"));
    dialogue.server(&[server_error("42701"), ready(b'E')].concat());
    dialogue.take_to_server();
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
    // The server's own answer is forwarded as it is.
    let own = [server_error("25P02"), ready(b'E')].concat();
    dialogue.take_to_client();
    dialogue.server(&own);
    assert_eq!(dialogue.take_to_client(), own);
    // A COPY does not end the session, and its rows do not reach the server, should the client send them as statements.
    for text in ["COPY customer (ssn) FROM STDIN", CANARY] {
        dialogue.client(&query(text));
        assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
        dialogue.server(&own);
        assert_eq!(dialogue.take_to_client(), own);
    }
    let own = [server_error("25P02"), ready(b'E')].concat();
    for messages in [
        [parse("", &format!("SELECT '{CANARY}'")), sync()].concat(),
        [parse("s", "COPY customer FROM STDIN"), sync()].concat(),
    ] {
        dialogue.client(&messages);
        assert!(!contains(&dialogue.take_to_server(), CANARY.as_bytes()));
        dialogue.server(&own);
        assert_eq!(dialogue.take_to_client(), own);
    }
    dialogue.client(&query("ROLLBACK"));
    assert_eq!(dialogue.take_to_server(), query("ROLLBACK"));
}

#[test]
fn nothing_of_a_value_stands_in_log_or_audit() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{CANARY}')")));
    dialogue.client(&query(&format!("SELECT * FROM customer WHERE ssn > '{CANARY}'")));
    dialogue.session.end(Ended::Client);
    let audit = dialogue.ports.borrow().audit.take().concat();
    assert!(audit.contains(r#""customer.ssn":{"sealed":1}"#) && !audit.contains(CANARY));
    assert!(dialogue.ports.borrow().lines.borrow().iter().all(|line| !line.contains(CANARY)));
}

#[test]
fn whoever_says_the_last_word_has_ended_the_session() {
    let told_by = |mut dialogue: Dialogue| {
        dialogue.session.end(Ended::Proxy);
        dialogue.ports.borrow().audit.take().concat()
    };
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0"));
    assert!(told_by(dialogue).contains(r#""ended":"server""#));
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(b"\xffabcd");
    dialogue.server(&message(b'E', b"SFATAL\0VFATAL\0C08P01\0Minvalid frontend message type 255\0\0"));
    assert!(told_by(dialogue).contains(r#""ended":"filter""#));
}
