//! FunctionCall of a function of which it is not known that it reads no table: the server is asked for its name.

use crate::support::*;

/// A FunctionCall of `query_to_xml`.
fn call() -> Vec<u8> {
    message(b'F', &[&2924_u32.to_be_bytes()[..], b"SELECT ssn FROM customer"].concat())
}

#[test]
fn function_that_may_read_a_table_is_refused_by_its_name() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&call());
    assert_eq!(dialogue.asked(), [Asked::Function]);
    dialogue.answer_catalog();
    assert!(!contains(&dialogue.take_to_server(), b"SELECT ssn"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    let told = dialogue.take_to_client();
    assert!(contains(&told, b"0A000") && contains(&told, FUNCTION));
    dialogue.client(&call());
    assert_eq!(dialogue.asked(), [Asked::Function], "an answer is for one call");
}

#[test]
fn function_call_is_refused_where_the_server_does_not_say_the_name() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&call());
    dialogue.server(&[server_error("57014"), ready(b'I')].concat());
    assert!(!contains(&dialogue.take_to_server(), b"SELECT ssn"));
    dialogue.server(&[server_error("42601"), ready(b'I')].concat());
    assert!(contains(&dialogue.take_to_client(), b"57P03"));
    dialogue.client(&call());
    assert_eq!(dialogue.asked(), [Asked::Function, Asked::Function], "the name is still not known");
    assert!(!contains(&dialogue.take_to_server(), b"SELECT ssn"));
}

#[test]
fn question_for_a_name_that_the_server_skips_is_asked_again() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&[parse("", "nothing"), call()].concat());
    assert_eq!(dialogue.asked(), [Asked::Function]);
    dialogue.server(&server_error("42601"));
    dialogue.client(&sync());
    dialogue.server(&ready(b'I'));
    dialogue.take_to_server();
    dialogue.client(&call());
    assert_eq!(dialogue.asked(), [Asked::Function, Asked::Function]);
    assert!(!contains(&dialogue.take_to_server(), b"SELECT ssn"));
}

#[test]
fn function_call_in_a_failed_transaction_is_the_servers_to_refuse() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&call());
    dialogue.take_to_server();
    dialogue.server(&[server_error("25P02"), ready(b'E')].concat());
    assert_eq!(dialogue.take_to_server(), call());
}

#[test]
fn function_call_is_refused_where_the_servers_answer_can_not_be_read() {
    for row in [vec![None], vec![Some(FUNCTION.to_vec()); 2]] {
        let mut dialogue = Dialogue::with_catalog(&revealing());
        for asked in 1..=2 {
            dialogue.client(&call());
            assert_eq!(dialogue.asked().len(), asked);
            let begun =
                [message(b'1', b""), message(b'2', b""), data_row(&row), complete("SELECT 1")].concat();
            dialogue.server(&[begun, message(b'3', b""), message(b'3', b""), ready(b'I')].concat());
            assert!(!contains(&dialogue.take_to_server(), b"SELECT ssn"));
            dialogue.server(&[server_error("42601"), ready(b'I')].concat());
            assert!(contains(&dialogue.take_to_client(), b"57P03"));
        }
    }
}
