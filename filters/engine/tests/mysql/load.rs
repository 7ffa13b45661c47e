//! LOAD DATA LOCAL INFILE into a protected table: the file is sealed on its way, however it is cut, or the statement fails.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

use crate::mysql_support::*;
use crate::support::contains;
use serde_json::Value;

const CSV: &str = "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer CHARACTER SET utf8mb4 \
FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES (id, ssn, name)";

/// `ssn` alone, of which equal values are stored equal.
fn deterministic() -> Vec<Value> {
    revealing().into_iter().take(1).collect()
}

/// A session whose server has asked for the file of `statement`, by its packet 1.
fn asked(statement: &str, chunk: usize) -> Dialogue {
    let mut dialogue = Dialogue::with_catalog(&deterministic(), chunk);
    dialogue.client(&query(statement));
    assert!(contains(&dialogue.to_server, b"EXP("), "the statement was not rewritten");
    dialogue.to_server.clear();
    dialogue.server(&packet(1, b"\xfbf"));
    dialogue.to_client.clear();
    dialogue
}

/// What packets carry up to an empty one, with their count.
fn content(mut packets: &[u8]) -> (Vec<u8>, u8) {
    let (mut content, mut count) = (Vec::new(), 0_u8);
    loop {
        let length = usize::from(packets[0]) | usize::from(packets[1]) << 8 | usize::from(packets[2]) << 16;
        assert_eq!(packets[3], count.wrapping_add(2), "packets are numbered one after the other");
        count = count.wrapping_add(1);
        if length == 0 {
            assert_eq!(packets.len(), 4, "nothing follows the file's end");
            return (content, count);
        }
        content.extend_from_slice(&packets[4..4 + length]);
        packets = &packets[4 + length..];
    }
}

/// The file in packets of so many bytes, and its end; how many packets that are.
fn send(dialogue: &mut Dialogue, file: &[u8], size: usize) -> u8 {
    let mut number = 2_u8;
    for piece in file.chunks(size) {
        dialogue.client(&packet(number, piece));
        number = number.wrapping_add(1);
    }
    dialogue.client(&packet(number, b""));
    number
}

/// What the server gets of a file.
fn sealed(statement: &str, file: &[u8], size: usize, chunk: usize) -> String {
    let mut dialogue = asked(statement, chunk);
    let last = send(&mut dialogue, file, size);
    let (content, count) = content(&dialogue.to_server);
    dialogue.server(&ok(count.wrapping_add(2)));
    assert_eq!(dialogue.to_client, ok(last.wrapping_add(1)), "the answer has the client's next number");
    assert!(!dialogue.closed);
    String::from_utf8(content).unwrap()
}

fn from_hexadecimal(digits: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    String::from_utf8((0..digits.len()).step_by(2).map(byte).collect()).unwrap()
}

#[test]
fn protected_fields_are_sealed_and_the_rest_stays_as_it_came() {
    let file = "id,ssn,\"name\"\n1,123-45-6789,\"Ä, \"\"B\"\"\nC\"\n2,\"123-45-6789\",x\\,y\n3,\\N,NULL\n4,NULL,\\N\n5\n6,,z";
    let sealed = sealed(CSV, file.as_bytes(), usize::MAX, usize::MAX);
    let rest = sealed.strip_prefix("\n1,").unwrap();
    let (ssn, rest) = rest.split_once(',').unwrap();
    assert!(from_hexadecimal(ssn).starts_with("fv"), "{sealed}");
    let rest = rest.strip_prefix("\"Ä, \"\"B\"\"\nC\"\n2,").unwrap();
    let rest = rest.strip_prefix(ssn).unwrap().strip_prefix(",x\\,y\n3,\\N,NULL\n4,NULL,\\N\n5\n6,").unwrap();
    let (empty, rest) = rest.split_once(',').unwrap();
    assert!(from_hexadecimal(empty).starts_with("fv") && empty != ssn);
    assert_eq!(rest, "z");
}

#[test]
fn what_no_column_takes_is_not_sent() {
    let file = "secret header\n1,a,b,secret,\"secret\"\n2,a,b,\n";
    let sealed = sealed(CSV, file.as_bytes(), usize::MAX, usize::MAX);
    assert!(
        !sealed.contains("secret") && sealed.starts_with('\n') && sealed.contains(",b,x\n2,"),
        "{sealed}"
    );
    assert!(sealed.ends_with(",b,\n"), "{sealed}");
}

#[test]
fn rows_are_the_same_at_every_cut() {
    const PREFIXED: &str = "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer CHARACTER SET utf8mb4 \
FIELDS TERMINATED BY '||' ENCLOSED BY '\\'' ESCAPED BY '\\'' LINES STARTING BY '>>' TERMINATED BY '\\r\\n' (ssn, name)";
    let csv = "h\\\n,\"\nid,ssn\n1,\"a\"\"b\n\\\"c\",d\\\n,e\n2,é\\é,\"x\n";
    let prefixed = "junk>>'a''b|'||'c'\r\n>x>>d|||e\r\r\n>>''||'\r\n'";
    for (statement, file) in [(CSV, csv), (PREFIXED, prefixed)] {
        let whole = sealed(statement, file.as_bytes(), usize::MAX, usize::MAX);
        for size in 1..file.len() {
            assert_eq!(sealed(statement, file.as_bytes(), size, usize::MAX), whole, "packets of {size}");
        }
        for chunk in 1..file.len() {
            assert_eq!(sealed(statement, file.as_bytes(), usize::MAX, chunk), whole, "chunks of {chunk}");
        }
    }
}

/// What the client is told of a file that cannot be sealed, after what the server got of it.
fn refused(statement: &str, file: &[u8]) -> (String, Vec<u8>) {
    let mut dialogue = asked(statement, usize::MAX);
    let last = send(&mut dialogue, file, 1 << 16);
    let (content, count) = content(&dialogue.to_server);
    dialogue.server(&error(count.wrapping_add(2), 1690, "DOUBLE value is out of range in 'exp(...)'"));
    assert!(!dialogue.closed, "the session goes on");
    assert_eq!(dialogue.to_client[3], last.wrapping_add(1), "the error has the client's next number");
    let told = String::from_utf8_lossy(&dialogue.to_client[4..]).into_owned();
    assert!(!told.contains("exp("), "{told}");
    dialogue.to_server.clear();
    dialogue.client(&packet(0, b"\x0e"));
    assert_eq!(dialogue.to_server, packet(0, b"\x0e"));
    (told, content)
}

#[test]
fn value_that_cannot_be_sealed_fails_the_statement_before_any_row_has_gone() {
    let file = format!("h\n1,good,\"a\nb\"\n2,{},c\n3,good,d\n", "a".repeat(65));
    let (told, content) = refused(CSV, file.as_bytes());
    assert!(told.contains("customer.ssn") && told.contains("line 4, field 2 of the file"), "{told}");
    assert!(!told.contains("aaaa"), "{told}");
    assert_eq!(content, b"\n,x\n");
}

#[test]
fn late_value_that_cannot_be_sealed_fails_the_statement_all_the_same() {
    let mut file = b"h\n".to_vec();
    for row in 0..40_000 {
        file.extend_from_slice(format!("{row},good,a\n").as_bytes());
    }
    file.extend_from_slice(format!("40000,{},a\n1,good,b\n", "a".repeat(65)).as_bytes());
    file.extend(b"1,good,b\n".repeat(40_000));
    let (told, content) = refused(CSV, &file);
    assert!(told.contains("line 40002, field 2"), "{told}");
    // So that a server doesn't wait in vain, something goes for each packet of the client's.
    let row = content.iter().rposition(|byte| *byte == b'x').unwrap();
    assert!(content[..row].ends_with(b",a\n,") && content[row + 1..].iter().all(|byte| *byte == b'\n'));
}

#[test]
fn keys_that_are_gone_in_the_middle_of_a_file_fail_the_statement() {
    // Before the first row has gone, and after many have.
    for rows in [3, 40_000] {
        let mut dialogue = asked(CSV, usize::MAX);
        let file: String = (0..rows).map(|row| format!("{row},clear,a\n")).collect();
        // The last row's value waits with those before it, and its row is not whole.
        dialogue.client(&packet(2, format!("h\n{file}7,clear,").as_bytes()));
        dialogue.give_keys(br#"{"revision": "none", "keysets": {}}"#);
        dialogue.client(&packet(3, b"a\n1,clear,b\n2,clear,c\n"));
        dialogue.client(&packet(4, b""));
        let (content, _) = content(&dialogue.to_server);
        assert!(!contains(&content, b"clear"), "{rows}");
        let row = content.iter().rposition(|byte| *byte == b'x').unwrap();
        let before = content[..row].strip_suffix(b",").unwrap();
        let sent = before.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
        let whole = sent.filter(|row| row.ends_with(b",a") && row.len() > 60).count();
        assert_eq!(whole, if rows == 3 { 0 } else { rows + 1 }, "{rows}");
    }
}

#[test]
fn file_that_is_not_utf8_is_refused() {
    for file in [b"h\n1,\xff,a\n".as_slice(), b"h\n1,a,\xf0\x9f\n", b"h\xc3\n1,a,b\n", b"h\n1,a,b,\x80\n"] {
        let (told, content) = refused(CSV, file);
        assert!(told.contains("it is not UTF-8"), "{told}");
        assert!(content.ends_with(b",x\n"));
    }
}

#[test]
fn row_that_never_ends_is_refused() {
    let file = [b"h\n1,\"".as_slice(), &b"a\n".repeat(9 << 20)].concat();
    let (told, content) = refused(CSV, &file);
    assert!(told.contains("longer than the 16 MiB"), "{told}");
    assert!(content.starts_with(b"\n,x\n"));
}

#[test]
fn server_that_reads_another_character_set_is_told_of() {
    let statement = "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer (id, ssn)";
    let mut dialogue = asked(statement, usize::MAX);
    let last = send(&mut dialogue, b"1\ta\n", usize::MAX);
    let (_, count) = content(&dialogue.to_server);
    dialogue.server(&error(count + 2, 1690, "DOUBLE value is out of range in 'exp(...)'"));
    assert_eq!(dialogue.to_client[3], last + 1);
    assert!(contains(&dialogue.to_client, b"CHARACTER SET utf8mb4"));
}

#[test]
fn server_that_takes_the_row_that_fails_is_not_believed() {
    let mut dialogue = asked(CSV, usize::MAX);
    send(&mut dialogue, b"h\n1,\xff,a\n", usize::MAX);
    let (_, count) = content(&dialogue.to_server);
    dialogue.server(&ok(count + 2));
    assert!(dialogue.closed && contains(&dialogue.to_client, b"it is not UTF-8"));
}

#[test]
fn load_is_not_prepared() {
    let mut dialogue = Dialogue::with_catalog(&deterministic(), usize::MAX);
    dialogue.client(&packet(0, &[b"\x16", CSV.as_bytes()].concat()));
    assert!(!contains(&dialogue.to_server, b"LOAD"));
    dialogue.server(&error(1, 1065, "Query was empty"));
    assert!(contains(&dialogue.to_client, b"COM_QUERY"));
}

#[test]
fn short_file_that_stands_for_long_values_fails_the_statement() {
    let numbers = format!("1|[{}1]\n", "1e4095,".repeat(250));
    for (type_name, line, count) in [("numeric", "1|1e4000\n", 35_000), ("jsonb", &numbers, 100)] {
        let mut fields = deterministic();
        fields[0]["type"] = type_name.into();
        fields[0]["protection"] = "randomized".into();
        let mut dialogue = Dialogue::ready(&fields, usize::MAX);
        dialogue.text_holds = "4294967295";
        dialogue.client(&query(
            "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer CHARACTER SET utf8mb4 FIELDS TERMINATED BY '|' (id, ssn)",
        ));
        dialogue.answer_questions();
        assert!(contains(&dialogue.to_server, b"EXP("), "the statement was not rewritten");
        dialogue.to_server.clear();
        dialogue.server(&packet(1, b"\xfbf"));
        dialogue.client(&packet(2, line.repeat(count).as_bytes()));
        assert!(dialogue.to_server.len() < 96 << 20, "{type_name}: {}", dialogue.to_server.len());
        assert!(contains(&dialogue.to_server, b"|x\n"), "{type_name}: it was not given up");
    }
}
