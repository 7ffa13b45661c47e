//! Who may write a label and not search by it puts a guess beside the stored values: what compares them is a search.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::support::http::keys_with_prf;
use crate::support::*;
use serde_json::{Value, json};

const UNSEARCHING: [&str; 3] = ["conceal", "null", "refuse"];
/// Without a list of what is protected, so that who is refused all reading is refused for no other reason.
const JOIN: &str = "SELECT a.id FROM customer a JOIN customer b ON a.ssn = b.ssn";
const IN: &str = "SELECT id FROM customer WHERE ssn IN (SELECT b.ssn FROM customer b WHERE b.id = 1)";

/// Statements of PostgreSQL that compare stored values, and whether a blind index can do so too.
const COMPARING: [(&str, bool); 21] = [
    (JOIN, true),
    ("SELECT a.id FROM customer a, customer b WHERE a.id > 1 AND NOT a.ssn <> b.ssn", true),
    ("SELECT a.id FROM customer a JOIN customer b ON a.ssn IS NOT DISTINCT FROM b.ssn", true),
    ("SELECT a.id, a.ssn = b.ssn FROM customer a, customer b", true),
    ("SELECT id FROM customer a WHERE EXISTS (SELECT 1 FROM customer b WHERE b.ssn = a.ssn)", true),
    (IN, true),
    ("SELECT id FROM customer WHERE ssn = ANY (SELECT b.ssn FROM customer b)", true),
    ("SELECT a.id FROM customer a JOIN customer b USING (ssn)", false),
    ("SELECT 1 FROM (SELECT ssn FROM customer INTERSECT SELECT ssn FROM customer) x", false),
    ("SELECT count(*) FROM (SELECT ssn FROM customer EXCEPT ALL SELECT ssn FROM customer) x", false),
    ("SELECT count(*) FROM (SELECT ssn FROM customer UNION SELECT ssn FROM customer) x", false),
    ("SELECT count(*) FROM customer GROUP BY ssn HAVING count(*) > 1", false),
    ("SELECT count(*) FROM (SELECT DISTINCT ssn FROM customer) x", false),
    ("SELECT DISTINCT ON (ssn) id FROM customer", false),
    ("SELECT count(DISTINCT ssn) FROM customer", false),
    ("EXPLAIN SELECT a.id FROM customer a JOIN customer b ON a.ssn = b.ssn", true),
    ("UPDATE customer a SET name = 'x' FROM customer b WHERE a.ssn = b.ssn", true),
    ("DELETE FROM customer a USING customer b WHERE a.ssn = b.ssn RETURNING a.id", true),
    ("MERGE INTO customer a USING customer b ON a.ssn = b.ssn WHEN MATCHED THEN UPDATE SET name = 'x'", true),
    ("PREPARE p AS SELECT a.id FROM customer a JOIN customer b ON a.ssn = b.ssn", true),
    ("DECLARE c CURSOR FOR SELECT a.id FROM customer a JOIN customer b ON a.ssn = b.ssn", true),
];

/// Upserts of PostgreSQL that tell whether a row has the guess.
const CONFLICTS: [(&str, bool); 5] = [
    ("INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON CONFLICT DO NOTHING", true),
    ("INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON CONFLICT (ssn) DO NOTHING", false),
    (
        "INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON CONFLICT (ssn) DO UPDATE SET name = 'x' RETURNING id",
        false,
    ),
    ("INSERT INTO customer (id, ssn) VALUES (1, $1) ON CONFLICT DO NOTHING", true),
    (
        "WITH one AS (INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON CONFLICT DO NOTHING RETURNING id) SELECT id FROM one",
        true,
    ),
];

/// What says nothing of equality, or says it of other columns.
const ORDINARY: [&str; 8] = [
    "INSERT INTO customer (id, ssn) VALUES (1, '12345678')",
    "INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON CONFLICT (id) DO NOTHING",
    "INSERT INTO customer (id, name) VALUES (1, 'x') ON CONFLICT DO NOTHING",
    "UPDATE customer SET ssn = '12345678' WHERE id = 1",
    "SELECT a.id FROM customer a JOIN customer b ON a.name = b.name",
    "SELECT name, count(*) FROM customer GROUP BY name",
    "SELECT DISTINCT name FROM customer",
    "DELETE FROM customer WHERE id = 1",
];

fn ssn(relation: &str, protection: &str, treatment: &str, write: &str) -> Value {
    let read = match treatment {
        "mask" => json!({"treatment": "mask", "format": "last4"}),
        _ => json!({ "treatment": treatment }),
    };
    let mut field = field("ssn", protection, "varchar(64)", read, write);
    field["relation"] = json!(relation);
    if protection == "format_preserving" {
        field["alphabet"] = json!("digits");
    }
    field
}

/// A session of PostgreSQL under a plan with these fields, with keys for every protection.
fn session(fields: &[Value]) -> Dialogue {
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan(fields)), Ok(&keys_with_prf()));
    dialogue.server(&message(b'R', &[0, 0, 0, 0]));
    dialogue.server(&message(b'S', b"client_encoding\0UTF8\0"));
    dialogue.server(&ready(b'I'));
    dialogue.client(&query("SELECT 1"));
    dialogue.answer_catalog();
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    dialogue.take_to_server();
    dialogue.take_to_client();
    dialogue
}

/// What the client is told of a statement that is refused; None of one that reaches the server.
fn refusal(dialogue: &mut Dialogue, text: &str) -> Option<String> {
    let parameters = text.contains("$1");
    dialogue.client(&if parameters { [parse("", text), sync()].concat() } else { query(text) });
    let sent = dialogue.take_to_server();
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = String::from_utf8_lossy(&dialogue.take_to_client()).into_owned();
    (!contains(&sent, b"customer")).then_some(told)
}

/// Refused, and for this reason.
fn is_refused(told: Option<String>) -> bool {
    let words = ["42501", "search by customer.ssn, which it may write", "primary key", "reveals or masks"];
    told.is_some_and(|told| words.iter().all(|word| told.contains(word)) && !told.contains("12345678"))
}

#[test]
fn who_may_write_and_not_search_does_not_search_by_writing() {
    for protection in ["deterministic", "format_preserving", "indexed"] {
        for treatment in UNSEARCHING {
            let mut dialogue = session(&[ssn("public.customer", protection, treatment, "seal")]);
            for (text, by_index) in COMPARING.iter().chain(&CONFLICTS) {
                if protection != "indexed" || *by_index {
                    let told = refusal(&mut dialogue, text);
                    // Who may read nothing is told so where it stands first.
                    let denied = treatment == "refuse"
                        && told.as_ref().is_some_and(|told| told.contains("principal read"));
                    assert!(denied || is_refused(told.clone()), "{protection} {treatment} {text}: {told:?}");
                }
            }
        }
    }
}

#[test]
fn ordinary_statements_of_who_may_write_and_not_search_go_on() {
    for protection in ["deterministic", "format_preserving", "indexed", "randomized"] {
        for treatment in UNSEARCHING {
            let mut dialogue = session(&[ssn("public.customer", protection, treatment, "seal")]);
            for text in ORDINARY {
                assert_eq!(refusal(&mut dialogue, text), None, "{protection} {treatment} {text}");
            }
        }
    }
}

#[test]
fn who_may_search_or_may_not_write_compares_as_before() {
    for protection in ["deterministic", "format_preserving", "indexed"] {
        for (treatment, write) in [
            ("reveal", "seal"),
            ("mask", "seal"),
            ("conceal", "refuse"),
            ("null", "refuse"),
            ("mask", "refuse"),
        ] {
            let mut dialogue = session(&[ssn("public.customer", protection, treatment, write)]);
            for (text, by_index) in COMPARING {
                if protection != "indexed" || by_index {
                    assert_eq!(refusal(&mut dialogue, text), None, "{protection} {treatment} {write} {text}");
                }
            }
            for (text, by_index) in CONFLICTS.iter().filter(|_| write == "seal") {
                if protection != "indexed" || *by_index {
                    assert_eq!(refusal(&mut dialogue, text), None, "{protection} {treatment} {text}");
                }
            }
        }
    }
}

#[test]
fn a_guess_that_is_written_to_another_column_of_the_label_counts() {
    let mut fields = vec![
        ssn("public.customer", "deterministic", "null", "refuse"),
        ssn("public.customer", "deterministic", "null", "seal"),
    ];
    fields[1]["column"] = json!("notes");
    let told = refusal(&mut session(&fields), JOIN);
    assert!(is_refused(told.clone()), "{told:?}");
    fields[1]["label"] = json!("customer.notes");
    assert_eq!(refusal(&mut session(&fields), JOIN), None);
}

#[test]
fn past_its_budget_a_principal_that_is_shown_no_more_does_not_search_by_writing() {
    let read = json!({"treatment": "reveal", "budget": {"rows": 1, "per_seconds": 60, "then": {"treatment": "null"}}});
    for (write, refused) in [("seal", true), ("refuse", false)] {
        let mut dialogue = session(&[field("ssn", "deterministic", "text", read.clone(), write)]);
        assert_eq!(refusal(&mut dialogue, JOIN), None);
        dialogue.client(&query("SELECT ssn FROM customer"));
        let row = data_row(&[Some(keys::sealed_under("a").into_bytes())]);
        let rows =
            [row_description(&[("ssn", 3)]), row.clone(), row, complete("SELECT 2"), ready(b'I')].concat();
        dialogue.server(&rows);
        dialogue.take_to_server();
        dialogue.take_to_client();
        let told = refusal(&mut dialogue, JOIN);
        assert_eq!(told.is_some_and(|told| told.contains("53400")), refused, "{write}");
    }
}

/// What the client is told of a statement of MySQL that is refused; None of one that reaches the server.
fn mysql_refusal(dialogue: &mut crate::mysql_support::Dialogue, text: &str) -> Option<String> {
    dialogue.client(&crate::mysql_support::query(text));
    let sent = dialogue.take_to_server();
    dialogue.server(&crate::mysql_support::error(1, 1064, "the server's own text"));
    let told = String::from_utf8_lossy(&dialogue.take_to_client()).into_owned();
    (!contains(&sent, b"customer")).then_some(told)
}

#[test]
fn the_same_holds_for_mysql() {
    let session = |treatment: &str, write: &str| {
        crate::mysql_support::Dialogue::with_catalog(
            &[ssn("shop.customer", "deterministic", treatment, write)],
            usize::MAX,
        )
    };
    let comparing = [
        JOIN,
        IN,
        "SELECT a.id FROM customer a JOIN customer b USING (ssn)",
        "SELECT a.id FROM customer a STRAIGHT_JOIN customer b ON a.ssn <=> b.ssn",
        "SELECT count(*) FROM customer GROUP BY ssn HAVING count(*) > 1",
        "SELECT count(DISTINCT ssn) FROM customer",
        "SELECT 1 FROM (SELECT ssn FROM customer INTERSECT SELECT ssn FROM customer) x",
        "UPDATE customer a JOIN customer b ON a.ssn = b.ssn SET a.name = 'x'",
        "DELETE a FROM customer a JOIN customer b ON a.ssn = b.ssn",
    ];
    let conflicts = [
        "INSERT IGNORE INTO customer (id, ssn) VALUES (1, '12345678')",
        "INSERT IGNORE INTO customer SET id = 1, ssn = '12345678'",
        "INSERT INTO customer (id, ssn) VALUES (1, '12345678') ON DUPLICATE KEY UPDATE name = 'x'",
        "REPLACE INTO customer (id, ssn) VALUES (1, '12345678')",
        "LOAD DATA LOCAL INFILE 'f' IGNORE INTO TABLE customer CHARACTER SET utf8mb4 (id, ssn)",
    ];
    for treatment in ["conceal", "null"] {
        let mut dialogue = session(treatment, "seal");
        for text in comparing.iter().chain(&conflicts) {
            let told = mysql_refusal(&mut dialogue, text);
            let words = ["search by customer.ssn, which it may write", "reveals or masks"];
            let said = told.as_ref().is_some_and(|told| words.iter().all(|word| told.contains(word)));
            assert!(said, "{treatment} {text}: {told:?}");
        }
        for text in [
            "INSERT INTO customer (id, ssn) VALUES (1, '12345678')",
            "INSERT IGNORE INTO customer (id, name) VALUES (1, 'x')",
            "INSERT INTO customer (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE name = 'y'",
            "UPDATE customer SET ssn = '12345678' WHERE id = 1",
            "SELECT a.id FROM customer a JOIN customer b ON a.name = b.name",
        ] {
            assert_eq!(mysql_refusal(&mut dialogue, text), None, "{treatment} {text}");
        }
    }
    for (treatment, write) in [("mask", "seal"), ("conceal", "refuse")] {
        let mut dialogue = session(treatment, write);
        for text in comparing {
            assert_eq!(mysql_refusal(&mut dialogue, text), None, "{treatment} {write} {text}");
        }
    }
}
