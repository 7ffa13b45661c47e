//! A text whose shape is known goes to the server as it would from a worker that knows none.

use crate::support::*;

/// What the server gets of a text.
fn forwarded(dialogue: &mut Dialogue, text: &str) -> Vec<u8> {
    dialogue.client(&query(text));
    let sent = dialogue.take_to_server();
    dialogue.server(&[complete("INSERT 0 1"), ready(b'I')].concat());
    dialogue.take_to_client();
    sent
}

/// Pairs of values in one notation.
const VALUES: [(&str, &str); 14] = [
    ("'078-05-1120'", "'O''Brien'"),
    ("'a\\'", "'C:\\dir\\'"),
    ("'é'", "'日本😀'"),
    ("'a\nb'", "'{\"a\": \"b\"}'"),
    ("E'a'", r"E'it\'s\n\\'"),
    ("$$a$$", r"$$it's \ $$"),
    ("'a'::text", "'it''s'::text"),
    ("'a'::varchar", "''::varchar"),
    ("5", "999999999999999999"),
    ("-5", "-65536"),
    ("1.5", "99.90"),
    ("-1.5", "-0.5"),
    ("NULL", "NULL"),
    ("'a', now()", "'b''', now()"),
];

#[test]
fn text_of_a_known_shape_is_forwarded_as_a_new_one_is() {
    let mut known = Dialogue::with_catalog(&revealing());
    let mut sealed = 0;
    for (first, second) in VALUES {
        let columns = if first.ends_with("now()") { "id, ssn, name" } else { "id, ssn" };
        let text = |id: u32, value| format!("INSERT INTO customer ({columns}) VALUES ({id}, {value})");
        for other in [text(2, second), text(3, first), text(4, "'078'"), text(5, second)] {
            forwarded(&mut known, &text(1, first));
            let sent = forwarded(&mut known, &other);
            let fresh = forwarded(&mut Dialogue::with_catalog(&revealing()), &other);
            assert_eq!(sent, fresh, "{other}");
            sealed += usize::from(contains(&sent, b"fv1."));
            assert!(second == "NULL" || !contains(&sent, second.as_bytes()), "{other}");
        }
    }
    // NULL is not sealed, and a text with fewer values than columns is refused.
    assert_eq!(sealed + 4, 4 * VALUES.len());
}

#[test]
fn value_that_a_cast_may_change_is_refused_though_the_shape_of_another_is_known() {
    let mut known = Dialogue::with_catalog(&revealing());
    for (value, is_sealed) in [("2024-02-29", true), ("29.2.2024", false), ("2024-02-28", true)] {
        let text = format!("INSERT INTO customer (id, ssn) VALUES (1, '{value}'::date)");
        let sent = forwarded(&mut known, &text);
        assert_eq!(contains(&sent, b"fv1."), is_sealed, "{value}");
        assert!(!contains(&sent, value.as_bytes()), "{value}");
    }
}
