//! Views of MySQL: the server is asked for the columns of those alone that may show a protected table, and none of them is
//! named before it is known what it shows.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use crate::mysql_support::*;
use crate::support::contains;

type Rows<'a> = Vec<Vec<Option<&'a [u8]>>>;

const SHOWS_SSN: &str =
    "select `shop`.`customer`.`name` AS `name`,`shop`.`customer`.`ssn` AS `number` from `shop`.`customer`";
const OF_ORDERS: &str = "select `shop`.`orders`.`id` AS `id` from `shop`.`orders`";

/// A statement that waits for the catalog, with the server's first answer given: the table and these views.
fn waiting<'a>(statement: &str, views: Rows<'a>, chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::ready(&revealing(), chunk);
    dialogue.client(&query(statement));
    dialogue.answer_who();
    let mut answer: Rows<'a> = customer();
    answer.extend(views);
    dialogue.answer_catalog(&answer);
    answer_names(&mut dialogue);
    dialogue
}

/// Answers the question for the relations that the session may see, if it is asked: `shop.orders` is one.
fn answer_names(dialogue: &mut Dialogue) {
    if contains(&dialogue.to_server, b"information_schema.TABLES") {
        dialogue.to_server.clear();
        let orders = ["shop", "orders", "0", "", "", "", "", "0", "0", "0", "0", ""];
        let orders = orders.map(|text| Some(text.as_bytes())).to_vec();
        dialogue.server(&rows("", &["x"; 12], &[orders]));
    }
}

/// Whether the server was asked for the columns of this view.
fn asks_for(dialogue: &Dialogue, view: &str) -> bool {
    let name: String = view.bytes().map(|byte| format!("{byte:02x}")).collect();
    contains(&dialogue.to_server, format!("c.TABLE_NAME = _utf8 x'{name}'").as_bytes())
}

fn is_refused(dialogue: &mut Dialogue) -> bool {
    assert!(dialogue.to_server.ends_with(&packet(0, b"\x03")), "something else goes to the server");
    dialogue.server(&error(1, 1065, "Query was empty"));
    contains(&dialogue.to_client, b"fieldveil: ")
}

#[test]
fn views_of_other_tables_are_not_asked_for() {
    let statement = query("SELECT id FROM of_orders");
    let dialogue = waiting("SELECT id FROM of_orders", vec![view("of_orders", OF_ORDERS)], usize::MAX);
    assert_eq!(dialogue.to_server, statement);
}

#[test]
fn view_of_a_protected_table_is_asked_for_and_shows_plaintext() {
    for chunk in [1, 7, 100, usize::MAX] {
        let statement = "SELECT number FROM numbers WHERE number = '078-05-1120'";
        let views = vec![view("of_orders", OF_ORDERS), view("numbers", SHOWS_SSN)];
        let mut dialogue = waiting(statement, views, chunk);
        assert!(asks_for(&dialogue, "numbers") && !asks_for(&dialogue, "of_orders"));
        assert!(!contains(&dialogue.to_server, b"SELECT number"), "the statement did not wait");
        dialogue
            .answer_catalog(&[view_column("numbers", "1", "name"), view_column("numbers", "2", "number")]);
        assert!(contains(&dialogue.to_server, b"SELECT number FROM numbers WHERE "));
        assert!(
            contains(&dialogue.to_server, b"fv1.") && !contains(&dialogue.to_server, b"078-05"),
            "not sealed"
        );
    }
}

#[test]
fn view_upon_such_a_view_is_asked_for() {
    let above = "select `numbers`.`number` AS `x` from `shop`.`numbers`";
    let mut dialogue =
        waiting("SELECT 1 FROM t", vec![view("above", above), view("numbers", SHOWS_SSN)], usize::MAX);
    assert!(asks_for(&dialogue, "numbers") && asks_for(&dialogue, "above"));
    let columns = [view_column("above", "1", "x"), view_column("numbers", "1", "name")];
    dialogue.answer_catalog(&columns);
    assert!(contains(&dialogue.to_server, b"SELECT 1 FROM t"));
}

#[test]
fn view_whose_query_may_not_be_seen_can_not_be_named() {
    let mut dialogue = waiting("SELECT x FROM hidden", vec![view("hidden", "")], usize::MAX);
    assert!(asks_for(&dialogue, "hidden"));
    dialogue.answer_catalog(&[view_column("hidden", "1", "x")]);
    assert!(is_refused(&mut dialogue));
}

#[test]
fn what_stands_upon_a_relation_that_may_not_be_seen_is_read_and_not_written() {
    let upon = "select `h`.`x` AS `x` from `apart`.`h`";
    let above = "select `upon`.`x` AS `x` from `shop`.`upon`";
    let views = || vec![view("above", above), view("of_orders", OF_ORDERS), view("upon", upon)];
    for chunk in [1, usize::MAX] {
        for name in ["upon", "above"] {
            let read = format!("SELECT x FROM {name} WHERE x = 1");
            assert_eq!(waiting(&read, views(), chunk).to_server, query(&read));
            let write = format!("INSERT INTO {name} VALUES ('078-05-1120')");
            let mut dialogue = waiting(&write, views(), chunk);
            assert!(!contains(&dialogue.to_server, b"078-05"));
            assert!(is_refused(&mut dialogue), "{name}");
        }
        let write = "INSERT INTO of_orders VALUES ('1')";
        assert_eq!(waiting(write, views(), chunk).to_server, query(write));
    }
}

#[test]
fn names_are_asked_for_only_where_a_view_stands_upon_another_relation_than_these_views() {
    let constant = "select 1 AS `one`";
    let above = "select `constant`.`one` AS `one` from `shop`.`constant` join `information_schema`.`ENGINES`";
    let mut dialogue = Dialogue::ready(&revealing(), usize::MAX);
    dialogue.client(&query("SELECT 1 FROM t"));
    dialogue.answer_who();
    let mut answer = customer();
    answer.extend([view("constant", constant), view("above", above)]);
    dialogue.answer_catalog(&answer);
    assert_eq!(dialogue.to_server, query("SELECT 1 FROM t"));
}

#[test]
fn view_that_computes_with_a_protected_column_can_not_be_named() {
    let computes = "select concat(`shop`.`customer`.`ssn`,'!') AS `x` from `shop`.`customer`";
    let mut dialogue = waiting("SELECT x FROM computed", vec![view("computed", computes)], usize::MAX);
    dialogue.answer_catalog(&[view_column("computed", "1", "x")]);
    assert!(is_refused(&mut dialogue));
}

#[test]
fn many_views_are_asked_for_in_turn() {
    let names: Vec<String> = (0..40).map(|number| format!("v{number:02}")).collect();
    let views = names.iter().map(|name| view(name, SHOWS_SSN)).collect();
    let mut dialogue = waiting("INSERT INTO v39 VALUES ('Ada', 'x')", views, usize::MAX);
    let mut asked = 0;
    while contains(&dialogue.to_server, b"information_schema.COLUMNS") {
        let now: Vec<&String> = names.iter().filter(|name| asks_for(&dialogue, name)).collect();
        asked += now.len();
        let column = |name| [view_column(name, "1", "name"), view_column(name, "2", "number")];
        let columns: Rows<'_> = now.into_iter().flat_map(|name| column(name)).collect();
        dialogue.answer_catalog(&columns);
    }
    assert_eq!(asked, names.len());
    assert!(!contains(&dialogue.to_server, b"'x'"), "what is written through a view goes out in clear");
}

#[test]
fn catalog_that_is_asked_for_in_parts_fails_as_a_whole() {
    let mut dialogue = waiting("SELECT number FROM numbers", vec![view("numbers", SHOWS_SSN)], usize::MAX);
    dialogue.server(&error(1, 1356, "View references invalid table"));
    assert!(is_refused(&mut dialogue));
}
