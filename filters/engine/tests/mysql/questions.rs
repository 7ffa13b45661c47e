//! What may go to a MySQL server before it was asked how the session's texts are read.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

/// Sessions that ask the server before they read a text: at their begin, behind DDL of their own, and when what the server
/// said has grown old.
fn with_questions_due() -> [Dialogue; 3] {
    let mut behind_ddl = Dialogue::with_catalog(&revealing(), usize::MAX);
    run(&mut behind_ddl, &query("DROP TABLE orders"));
    let old = Dialogue::with_catalog(&revealing(), usize::MAX);
    old.ports.borrow_mut().now_ms += 61_000;
    [Dialogue::ready(&revealing(), usize::MAX), behind_ddl, old]
}

/// A command that needs no question, and the server's OK.
fn run(dialogue: &mut Dialogue, command: &[u8]) {
    dialogue.client(command);
    assert_eq!(dialogue.to_server, command);
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
}

#[test]
fn what_asks_about_the_statement_before_goes_ahead_of_all_questions() {
    for text in [
        "SHOW WARNINGS",
        "show errors limit 5;",
        "SHOW COUNT(*) WARNINGS",
        "SELECT ROW_COUNT() AS n, FOUND_ROWS()",
        "/* who */ SELECT @@warning_count FROM dual",
        "SELECT ROW_COUNT() INTO @n",
        "SET @n = FOUND_ROWS()",
        "GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT",
        "COMMIT",
    ] {
        for mut dialogue in with_questions_due() {
            run(&mut dialogue, &query(text));
        }
    }
}

#[test]
fn prepared_question_about_the_statement_before_goes_ahead_of_all_questions() {
    let prepare = packet(0, b"\x16select found_rows()");
    let execute = packet(0, b"\x17\x01\0\0\0\0\x01\0\0\0");
    for mut dialogue in with_questions_due() {
        dialogue.client(&prepare);
        assert_eq!(dialogue.to_server, prepare);
        dialogue.server(&packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"));
        dialogue.to_server.clear();
        for before in ["CREATE TABLE a (b int)", "SET NAMES utf8mb4"] {
            run(&mut dialogue, &execute);
            dialogue.client(&query(before));
            if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
                dialogue.answer_questions();
            }
            dialogue.server(&ok(1));
            dialogue.to_server.clear();
        }
        run(&mut dialogue, &execute);
    }
}

#[test]
fn statement_behind_one_that_needs_no_question_is_read() {
    let insert = "INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'likes äöü')";
    for before in [
        "SHOW WARNINGS",
        "SHOW WARNINGS ",
        "SELECT ROW_COUNT()",
        "SET @n = FOUND_ROWS()",
        "USE shop; SELECT FOUND_ROWS()",
        "COMMIT",
        "SET @a = 1",
        "SET NAMES utf8mb4",
    ] {
        for behind in [insert, "INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'x')"] {
            for mut dialogue in with_questions_due() {
                dialogue.client(&query(&format!("{before};{behind}")));
                assert!(!contains(&dialogue.to_server, b"078-05-1120"), "{before}");
                if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
                    dialogue.answer_questions();
                }
                assert!(!contains(&dialogue.to_server, b"078-05-1120"), "{before}");
            }
        }
    }
}

#[test]
fn other_database_that_is_taken_before_a_question_about_the_last_statement_is_known() {
    for mut dialogue in with_questions_due() {
        let text = query("USE plain; SELECT FOUND_ROWS()");
        dialogue.client(&text);
        assert_eq!(dialogue.to_server, text);
        dialogue.server(&packet(1, &[0, 0, 0, 0x0a, 0, 0, 0]));
        dialogue.server(&rows("", &["n"], &[vec![Some(b"1")]]));
        dialogue.to_server.clear();
        dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', 'x')"));
        assert!(contains(&dialogue.to_server, b"DATABASE()"), "the database in use was not asked for");
        assert!(!contains(&dialogue.to_server, b"078-05-1120"));
    }
}

#[test]
fn table_that_another_connection_made_is_looked_for_before_a_statement_that_names_it() {
    let mut fields = revealing();
    let mut absent = fields[0].clone();
    absent["relation"] = "shop.patient".into();
    fields.push(absent);
    let mut dialogue = Dialogue::with_catalog(&fields, usize::MAX);
    dialogue.client(&query("SELECT 1 FROM orders"));
    assert_eq!(dialogue.to_server, query("SELECT 1 FROM orders"));
    dialogue.server(&ok(1));
    dialogue.to_server.clear();
    dialogue.client(&query("INSERT INTO Patient (ssn) VALUES ('078-05-1120')"));
    assert!(contains(&dialogue.to_server, b"information_schema.COLUMNS"));
    assert!(!contains(&dialogue.to_server, b"078-05-1120"));
}

#[test]
fn user_whose_name_the_server_takes_quotes_off_is_not_let_in() {
    let mut dialogue = Dialogue::new(&revealing(), usize::MAX);
    dialogue.server(&greeting());
    let mut response = handshake_response();
    let at = response.windows(4).position(|bytes| bytes == b"app\0").unwrap();
    response[at..at + 3].copy_from_slice(b"'a'");
    dialogue.client(&response);
    dialogue.answer_fetches();
    assert!(contains(&dialogue.to_server, b"fieldveil_"));
    assert!(!contains(&dialogue.to_server, b"'a'"));
}

fn change_user() -> Vec<u8> {
    packet(0, b"\x11app\0\0shop\0\x2d\0caching_sha2_password\0")
}

/// A `SET sql_mode`, what resets the session, and what chooses another database.
fn what_changes_reading() -> Vec<Vec<u8>> {
    let texts = [
        "SET sql_mode = 'ANSI_QUOTES'",
        "SET NAMES latin1",
        "CALL f()",
        "USE plain",
        "SET character_set_client = sjis",
    ];
    let commands = [packet(0, b"\x1f"), change_user(), packet(0, b"\x02plain")];
    texts.map(query).into_iter().chain(commands).collect()
}

#[test]
fn what_may_have_changed_how_texts_are_read_is_asked_anew_after_it() {
    for change in what_changes_reading() {
        let mut dialogue = Dialogue::with_catalog(&revealing(), usize::MAX);
        dialogue.client(&change);
        if contains(&dialogue.to_server, b"SELECT CAST(CURRENT_USER()") {
            dialogue.answer_questions();
        }
        dialogue.server(&ok(1));
        dialogue.to_server.clear();
        dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', \"x\")"));
        assert!(contains(&dialogue.to_server, b"@@SESSION.sql_mode"), "{change:?}");
        assert!(!contains(&dialogue.to_server, b"078-05"), "{change:?}");
    }
}

#[test]
fn what_changed_under_a_plan_without_fields_is_asked_for_when_a_plan_has_some() {
    for change in what_changes_reading() {
        let mut dialogue = Dialogue::ready(&[], usize::MAX);
        dialogue.client(&change);
        assert_eq!(dialogue.to_server, change, "nothing is to be asked while nothing is protected");
        dialogue.server(&ok(1));
        dialogue.to_server.clear();
        dialogue.change_plan(&revealing());
        dialogue.client(&query("INSERT INTO customer VALUES (1, 'Ada', '078-05-1120', \"x\")"));
        assert!(contains(&dialogue.to_server, b"@@SESSION.sql_mode"), "{change:?}");
        assert!(!contains(&dialogue.to_server, b"078-05"), "{change:?}");
        dialogue.answer_questions();
        assert!(
            contains(&dialogue.to_server, b"fv1.") && !contains(&dialogue.to_server, b"078-05"),
            "{change:?}"
        );
    }
}

#[test]
fn a_session_is_for_the_account_that_let_it_in_and_not_for_the_name_that_the_client_said() {
    for (account, user) in [("@localhost", ""), ("a@b@%", "a@b"), ("reports@10.0.0.1", "reports")] {
        let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
        dialogue.account = account;
        dialogue.client(&query("SELECT ssn FROM customer"));
        dialogue.answer_who();
        let [fieldveil_engine::fetch::Fetch::Plan(principal)] = dialogue.fetches.as_slice() else {
            panic!("the plan of {account} was not asked for")
        };
        let request: serde_json::Value = serde_json::from_str(principal.request()).unwrap();
        assert_eq!(request["input"]["session"]["user"], user);
        assert_eq!(request["input"]["session"]["role"], user);
        assert!(!contains(&dialogue.to_server, b"SELECT ssn"));
    }
}
