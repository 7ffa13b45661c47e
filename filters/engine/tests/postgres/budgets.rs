//! Budgets of what is revealed, through a session: counted by subject and label, whatever the message and its format.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use crate::support::*;
use fieldveil_engine::audit::Ended;
use fieldveil_engine::budgets::{Allowance, MAX_WINDOWS};
use fieldveil_postgres_wire::Format;
use fieldveil_postgres_wire::frontend::Bind;
use serde_json::{Value, json};

const VALUE: &str = "078-05-1120";
const MASKED: &str = "***-**-1120";

fn budget(rows: u32, then: Value) -> Value {
    json!({"treatment": "reveal", "budget": {"rows": rows, "per_seconds": 16, "then": then}})
}

fn last4() -> Value {
    json!({"treatment": "mask", "format": "last4"})
}

/// `ssn` with the budget; `notes` under the same label.
fn fields(read: &Value) -> Vec<Value> {
    let mut fields = vec![
        field("ssn", "deterministic", "text", read.clone(), "seal"),
        field("notes", "deterministic", "text", read.clone(), "seal"),
    ];
    fields[1]["label"] = json!("customer.ssn");
    fields
}

fn plan_for(subject: &str, fields: &[Value]) -> Vec<u8> {
    let mut answer: Value = serde_json::from_slice(&plan(fields)).unwrap();
    answer["result"]["subject"] = json!(subject);
    answer["result"]["revision"] = json!(format!("{subject} {fields:?}"));
    answer.to_string().into_bytes()
}

/// Lets the session come up under this plan.
fn up(mut dialogue: Dialogue, user: &str, plan: &[u8]) -> Dialogue {
    user.clone_into(&mut dialogue.identity[0]);
    dialogue.client(&startup(user));
    dialogue.answer_fetches(Ok(plan), Ok(&keys()));
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

fn with_budget(read: &Value) -> Dialogue {
    up(Dialogue::new(), "app", &plan_for("user:app", &fields(read)))
}

/// What the server stores for the value.
fn stored(dialogue: &mut Dialogue) -> Vec<u8> {
    dialogue.client(&query(&format!("INSERT INTO customer (ssn) VALUES ('{VALUE}')")));
    let sent = dialogue.take_to_server();
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    dialogue.take_to_client();
    let start = sent.windows(4).position(|w| w == b"fv1.").unwrap();
    sent[start..].iter().copied().take_while(|b| b.is_ascii_alphanumeric() || b"._-".contains(b)).collect()
}

fn times(told: &[u8], text: &str) -> usize {
    told.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

/// How many of the rows of a query came revealed, and how many masked.
fn read(dialogue: &mut Dialogue, rows: usize) -> (usize, usize) {
    let told = answer(dialogue, "SELECT ssn FROM customer", &[("ssn", 3)], rows);
    assert_eq!(tags(&told), format!("T{}CZ", "D".repeat(rows)));
    (times(&told, VALUE), times(&told, MASKED))
}

/// What the client is told for a query with so many rows of the value in each column.
fn answer(dialogue: &mut Dialogue, text: &str, columns: &[(&str, i16)], rows: usize) -> Vec<u8> {
    let value = stored(dialogue);
    dialogue.client(&query(text));
    let row = data_row(&vec![Some(value); columns.len()]);
    let answer = [row_description(columns), row.repeat(rows), complete("SELECT"), ready(b'I')].concat();
    dialogue.server(&answer);
    dialogue.take_to_client()
}

#[test]
fn rows_past_the_budget_are_masked_until_its_time_has_passed() {
    let mut dialogue = with_budget(&budget(5, last4()));
    assert_eq!(read(&mut dialogue, 3), (3, 0));
    assert_eq!(read(&mut dialogue, 4), (2, 2));
    assert_eq!(read(&mut dialogue, 1), (0, 1));
    dialogue.ports.borrow_mut().now_ms += 15_999;
    assert_eq!(read(&mut dialogue, 1), (0, 1), "within the sixteen seconds");
    dialogue.ports.borrow_mut().now_ms += 1_001;
    assert_eq!(read(&mut dialogue, 6), (5, 1));
}

#[test]
fn budget_is_the_subjects_on_every_connection_and_under_every_plan() {
    let mut dialogue = with_budget(&budget(5, last4()));
    assert_eq!(read(&mut dialogue, 4), (4, 0));
    // Another principal to the filter, such as another application_name, and the same subject.
    let mut other = up(dialogue.beside(), "other", &plan_for("user:app", &fields(&budget(5, last4()))));
    assert_eq!(read(&mut other, 2), (1, 1));
    let null = json!({"treatment": "null"});
    let mut flipped = up(dialogue.beside(), "flipped", &plan_for("user:app", &fields(&budget(5, null))));
    assert_eq!(read(&mut flipped, 2), (0, 0));
    let mut somebody = up(dialogue.beside(), "else", &plan_for("user:else", &fields(&budget(5, last4()))));
    assert_eq!(read(&mut somebody, 6), (5, 1));
}

#[test]
fn row_is_treated_one_way_and_costs_one_however_many_columns_have_the_label() {
    let mut dialogue = with_budget(&budget(3, last4()));
    let both = [("ssn", 3), ("notes", 4)];
    let told = answer(&mut dialogue, "SELECT ssn, notes FROM customer", &both, 4);
    assert_eq!((times(&told, VALUE), times(&told, MASKED)), (6, 2));
}

#[test]
fn row_of_a_table_joined_with_itself_costs_as_many_as_it_holds() {
    let mut dialogue = with_budget(&budget(7, last4()));
    let columns = [("ssn", 3), ("ssn", 3), ("notes", 4), ("ssn", 3)];
    let text = "SELECT a.ssn, b.ssn, b.notes, c.ssn FROM customer a, customer b, customer c";
    let told = answer(&mut dialogue, text, &columns, 3);
    assert_eq!((times(&told, VALUE), times(&told, MASKED)), (8, 4));
    assert_eq!(read(&mut dialogue, 2), (1, 1), "what was too little for three is left");
}

#[test]
fn row_of_several_tables_under_the_label_costs_the_sum_of_their_parts() {
    let mut fields = fields(&budget(7, last4()));
    fields.push(fields[0].clone());
    fields[2]["relation"] = json!("public.other");
    let mut dialogue = Dialogue::new();
    dialogue.client(&startup("app"));
    dialogue.answer_fetches(Ok(&plan_for("user:app", &fields)), Ok(&keys()));
    dialogue.server(&[message(b'R', &[0, 0, 0, 0]), message(b'S', b"client_encoding\0UTF8\0")].concat());
    dialogue.server(&ready(b'I'));
    dialogue.client(&query("SELECT 1"));
    let other = |mut row: Vec<Option<Vec<u8>>>| {
        (row[0], row[2], row[11]) = (Some(b"16401".into()), Some(b"other".into()), Some(b"other".into()));
        row
    };
    let rows = catalog_rows().into_iter().chain(catalog_rows().into_iter().map(other)).collect();
    dialogue.answer_catalog_with(rows);
    dialogue.server(&[complete("SELECT 0"), ready(b'I')].concat());
    let value = stored(&mut dialogue);
    dialogue.client(&query("SELECT a.ssn, a.notes, b.ssn FROM customer a, other b"));
    let mut columns = row_description(&[("ssn", 3), ("notes", 4), ("ssn", 3)]);
    let last = columns.windows(4).rposition(|part| part == 16400_u32.to_be_bytes()).unwrap();
    columns[last..last + 4].copy_from_slice(&16401_u32.to_be_bytes());
    let row = data_row(&vec![Some(value); 3]);
    dialogue.server(&[columns, row.repeat(4), complete("SELECT"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert_eq!((times(&told, VALUE), times(&told, MASKED)), (9, 3), "two each, of seven");
}

#[test]
fn null_costs_nothing() {
    let mut dialogue = with_budget(&budget(1, last4()));
    let value = stored(&mut dialogue);
    dialogue.client(&query("SELECT ssn FROM customer"));
    let rows = [data_row(&[None]), data_row(&[None]), data_row(&[Some(value)])].concat();
    dialogue.server(&[row_description(&[("ssn", 3)]), rows, complete("SELECT 3"), ready(b'I')].concat());
    assert_eq!(times(&dialogue.take_to_client(), VALUE), 1);
}

#[test]
fn spent_budget_that_says_null_gives_null() {
    let mut dialogue = with_budget(&budget(1, json!({"treatment": "null"})));
    let told = answer(&mut dialogue, "SELECT ssn FROM customer", &[("ssn", 3)], 2);
    assert!(contains(&told, &[data_row(&[Some(VALUE.into())]), data_row(&[None])].concat()));
}

#[test]
fn refused_row_ends_the_answer_and_says_label_budget_and_when_to_come_again() {
    let mut dialogue = with_budget(&budget(2, json!({"treatment": "refuse"})));
    let told = answer(&mut dialogue, "SELECT ssn FROM customer", &[("ssn", 3)], 4);
    assert_eq!(tags(&told), "TDDEZ");
    for part in
        ["C53400", "the budget of customer.ssn is spent: 2 rows within 16 seconds", "again in 17 seconds"]
    {
        assert_eq!(times(&told, part), 1, "{part}");
    }
    assert!(!dialogue.closed);
    // The next one is refused before the server has it, and so is one that is prepared.
    dialogue.take_to_server();
    dialogue.client(&query("SELECT ssn FROM customer"));
    assert!(!contains(&dialogue.take_to_server(), b"ssn"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert_eq!(times(&dialogue.take_to_client(), "C53400"), 1);
    // What does not read it goes on.
    dialogue.client(&query("SELECT name FROM customer"));
    assert!(contains(&dialogue.take_to_server(), b"name"));
    dialogue.server(&[row_description(&[("name", 2)]), complete("SELECT 0"), ready(b'I')].concat());
    dialogue.ports.borrow_mut().now_ms += 17_000;
    dialogue.take_to_client();
    assert_eq!(tags(&answer(&mut dialogue, "SELECT ssn FROM customer", &[("ssn", 3)], 2)), "TDDCZ");
    let counts = dialogue.worker.borrow_mut().take_counts();
    assert_eq!((counts["budget_spent.customer.ssn"], counts["refused.53400"]), (1, 2));
}

#[test]
fn refused_row_of_a_statement_that_wrote_ends_the_session() {
    let mut dialogue = with_budget(&budget(1, json!({"treatment": "refuse"})));
    let value = stored(&mut dialogue);
    dialogue.client(&query("UPDATE customer SET name = 'x' RETURNING ssn"));
    let rows = data_row(&[Some(value)]).repeat(2);
    dialogue.server(&[row_description(&[("ssn", 3)]), rows, complete("UPDATE 2"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert!(dialogue.closed);
    assert_eq!((times(&told, "FATAL") > 0, times(&told, "C53400"), times(&told, VALUE)), (true, 1, 1));
}

#[test]
fn what_is_prepared_before_is_refused_while_the_budget_is_spent() {
    let mut dialogue = with_budget(&budget(1, json!({"treatment": "refuse"})));
    let prepared = [parse("s", "SELECT ssn FROM customer"), sync()].concat();
    dialogue.client(&prepared);
    let described = [message(b't', &[0, 0]), row_description(&[("ssn", 3)])].concat();
    dialogue.server(&[message(b'1', b""), described, ready(b'I')].concat());
    assert_eq!(read(&mut dialogue, 1), (1, 0));
    dialogue.client(&[bind("s", &[]), execute(), sync()].concat());
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert_eq!((tags(&told).as_str(), times(&told, "C53400")), ("EZ", 1));
}

#[test]
fn extended_rows_in_binary_format_spend_it_too() {
    let mut dialogue = with_budget(&budget(1, last4()));
    let value = stored(&mut dialogue);
    let mut bound = Vec::new();
    let result_formats = vec![Format::Binary];
    Bind { portal: b"", statement: b"s", parameter_formats: vec![], values: vec![], result_formats }
        .encode(&mut bound)
        .unwrap();
    dialogue.client(&[parse("s", "SELECT ssn FROM customer"), bound, execute(), sync()].concat());
    let described = [message(b't', &[0, 0]), row_description(&[("ssn", 3)])].concat();
    let rows = data_row(&[Some(value)]).repeat(2);
    let answer = [message(b'1', b""), described, message(b'2', b""), rows, complete("SELECT 2"), ready(b'I')];
    dialogue.server(&answer.concat());
    let told = dialogue.take_to_client();
    let expected = [data_row(&[Some(VALUE.into())]), data_row(&[Some(MASKED.into())])].concat();
    assert!(contains(&told, &expected), "{}", tags(&told));
}

#[test]
fn copied_rows_spend_it_in_every_format() {
    let binary = |value: &[u8]| {
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        [&[0, 1], length.as_slice(), value].concat()
    };
    let header = [b"PGCOPY\n\xff\r\n\0".as_slice(), &[0; 8]].concat();
    for format in ["text", "csv", "binary"] {
        let mut dialogue = with_budget(&budget(2, last4()));
        let value = stored(&mut dialogue);
        dialogue.client(&query(&format!("COPY customer (ssn) TO STDOUT (FORMAT {format})")));
        let row = match format {
            "binary" => message(b'd', &binary(&value)),
            _ => message(b'd', &[&value, b"\n".as_slice()].concat()),
        };
        let mut answer = message(b'H', &[0, 0, 0]);
        if format == "binary" {
            answer.extend(message(b'd', &header));
        }
        answer.extend([row.repeat(3), message(b'c', b""), complete("COPY 3"), ready(b'I')].concat());
        dialogue.server(&answer);
        let told = dialogue.take_to_client();
        assert_eq!((times(&told, VALUE), times(&told, MASKED)), (2, 1), "{format}");
    }
}

#[test]
fn copy_past_the_budget_ends_where_rows_are_refused() {
    let mut dialogue = with_budget(&budget(1, json!({"treatment": "refuse"})));
    let value = stored(&mut dialogue);
    dialogue.client(&query("COPY customer (ssn) TO STDOUT"));
    let row = message(b'd', &[&value, b"\n".as_slice()].concat());
    let end = [message(b'c', b""), complete("COPY 3"), ready(b'I')].concat();
    dialogue.server(&[message(b'H', &[0, 0, 0]), row.repeat(3), end].concat());
    assert_eq!(tags(&dialogue.take_to_client()), "HdEZ");
}

#[test]
fn rows_too_long_to_be_held_spend_it_too() {
    let mut dialogue = with_budget(&budget(1, last4()));
    let value = stored(&mut dialogue);
    dialogue.client(&query("SELECT ssn, name FROM customer"));
    let row = data_row(&[Some(value), Some(vec![b'x'; 17 << 20])]);
    dialogue.chunk = 1 << 20;
    dialogue.server(&row_description(&[("ssn", 3), ("name", 2)]));
    dialogue.server(&row);
    dialogue.server(&row);
    dialogue.server(&[complete("SELECT 2"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    let beside = |value: &str| [&[0, 2, 0, 0, 0, 11], value.as_bytes()].concat();
    assert_eq!(tags(&told), "TDDCZ");
    for value in [VALUE, MASKED] {
        assert!(contains(&told, &beside(value)), "{value}");
    }
}

#[test]
fn one_may_look_for_values_while_what_one_gets_shows_a_part_of_them() {
    let text = format!("SELECT id FROM customer WHERE ssn = '{VALUE}'");
    for (then, refused) in
        [(last4(), false), (json!({"treatment": "null"}), true), (json!({"treatment": "refuse"}), true)]
    {
        let mut dialogue = with_budget(&budget(1, then.clone()));
        assert_eq!(read(&mut dialogue, 1), (1, 0));
        dialogue.client(&query(&text));
        assert_eq!(!contains(&dialogue.take_to_server(), b"fv1."), refused, "{then}");
    }
}

#[test]
fn spent_budget_is_counted_for_each_row_and_logged_once_in_its_time() {
    let mut dialogue = with_budget(&budget(1, last4()));
    let lines = |dialogue: &Dialogue| {
        let ports = dialogue.ports.borrow();
        let lines = ports.lines.borrow();
        lines.iter().filter(|line| line.contains("has spent its budget")).cloned().collect::<Vec<_>>()
    };
    read(&mut dialogue, 4);
    read(&mut dialogue, 4);
    assert_eq!(
        lines(&dialogue),
        [
            "user:app has spent its budget of customer.ssn, 1 rows within 16 seconds: more of them are masked; there is room again in 17 seconds"
        ]
    );
    let counts = dialogue.worker.borrow_mut().take_counts();
    assert_eq!(counts["budget_spent.customer.ssn"], 7);
    assert_eq!((counts["revealed.customer.ssn"], counts["masked.customer.ssn"]), (1, 7));
    dialogue.ports.borrow_mut().now_ms += 17_000;
    read(&mut dialogue, 4);
    assert_eq!(lines(&dialogue).len(), 2);
}

#[test]
fn audit_tells_how_many_rows_a_budget_kept() {
    let mut dialogue = with_budget(&budget(2, last4()));
    read(&mut dialogue, 5);
    dialogue.session.end(Ended::Client);
    let ports = dialogue.ports.borrow();
    let audited = ports.audit.borrow();
    let line: Value = serde_json::from_str(audited.last().unwrap()).unwrap();
    let expected =
        json!([{"label": "customer.ssn", "rows": 2, "per_seconds": 16, "then": "mask", "count": 3}]);
    assert_eq!(line["budgets"], expected);
    assert_eq!(line["labels"]["customer.ssn"], json!({"revealed": 2, "masked": 3, "sealed": 1}));
}

#[test]
fn description_has_the_declared_type_before_and_after() {
    let mut dialogue = with_budget(&budget(1, last4()));
    let described = |dialogue: &mut Dialogue| {
        let told = answer(dialogue, "SELECT ssn FROM customer", &[("ssn", 3)], 1);
        let (header, _) = fieldveil_postgres_wire::frame::peek_message(&told).unwrap().unwrap();
        told[..header.total_len()].to_vec()
    };
    let before = described(&mut dialogue);
    assert_eq!(before, described(&mut dialogue));
}

#[test]
fn row_that_finds_no_place_to_be_counted_is_not_revealed() {
    let mut dialogue = with_budget(&budget(5, last4()));
    let now_ms = dialogue.ports.borrow().now_ms;
    for number in 0..MAX_WINDOWS {
        let (subject, allowance) = (number.to_string().into(), Allowance { rows: 1, per_seconds: 16 });
        dialogue.worker.borrow_mut().budgets().spend(&subject, &"l".into(), allowance, 1, now_ms);
    }
    assert_eq!(read(&mut dialogue, 2), (0, 2));
    let counts = dialogue.worker.borrow_mut().take_counts();
    assert_eq!((counts["budgets.over_limit"], counts["budget_spent.customer.ssn"]), (2, 2));
    dialogue.ports.borrow_mut().now_ms += 17_000;
    assert_eq!(read(&mut dialogue, 2), (2, 0));
}
