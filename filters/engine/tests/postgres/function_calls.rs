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
}

#[test]
fn function_call_in_a_failed_transaction_is_the_servers_to_refuse() {
    let mut dialogue = Dialogue::with_catalog(&revealing());
    dialogue.client(&call());
    dialogue.take_to_server();
    dialogue.server(&[server_error("25P02"), ready(b'E')].concat());
    assert_eq!(dialogue.take_to_server(), call());
}
