//! JSON strings and the text that they stand for: as serde_json reads them.
#![allow(missing_docs, clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used)]

use fieldveil_json_stream::{NotAString, StringText, read_string, write_string};

#[test]
fn every_character_is_read_from_its_escape() {
    for character in (0..=0xffff).filter_map(char::from_u32) {
        let json = format!("\"\\u{:04x}\\u{:04X}\"", u32::from(character), u32::from(character));
        let text: String = [character, character].iter().collect();
        assert_eq!(&*read_string(json.as_bytes()).unwrap(), text.as_bytes());
    }
    for character in (0x1_0000..=0x10_ffff).filter_map(char::from_u32) {
        let mut units = [0; 2];
        character.encode_utf16(&mut units);
        let [high, low] = units;
        let json = format!("\"\\u{high:04x}\\u{low:04X}\"");
        assert_eq!(&*read_string(json.as_bytes()).unwrap(), String::from(character).as_bytes());
    }
}

#[test]
fn string_is_copied_only_if_it_has_escapes() {
    for plain in ["\"\"", "\"a\"", "\"no escapes, though it is long and has ä and 字\""] {
        let text = read_string(plain.as_bytes()).unwrap();
        assert!(matches!(text, StringText::Plain(inside) if inside == &plain.as_bytes()[1..plain.len() - 1]));
    }
    let text = read_string(br#""tab\there, and \u00e4""#).unwrap();
    assert!(matches!(&text, StringText::Unescaped(text) if text.as_slice() == "tab\there, and ä".as_bytes()));
}

#[test]
fn every_character_is_written_so_that_it_is_read_again() {
    let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
    let mut json = Vec::new();
    write_string(&all, &mut json);
    assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), all);
    assert_eq!(&*read_string(&json).unwrap(), all.as_bytes());
}

#[test]
fn what_need_not_be_escaped_is_written_as_it_is() {
    let mut json = b"1,".to_vec();
    write_string("fv1.\"é\\/😀\n\t\u{8}\u{c}\r\0\u{1f}\u{7f}", &mut json);
    assert_eq!(json, "1,\"fv1.\\\"é\\\\/😀\\n\\t\\b\\f\\r\\u0000\\u001f\u{7f}\"".as_bytes());
}

#[test]
fn what_stands_for_no_text_is_refused() {
    for json in [
        r"",
        "\"",
        "a",
        "\"a",
        "a\"",
        "null",
        "\"a\"b\"",
        "\"\n\"",
        "\"\\\"",
        r#""\x""#,
        r#""\u12""#,
        r#""\u+123""#,
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800a""#,
        r#""\ud800\n""#,
        r#""\ud800\u0061""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\ude0""#,
    ] {
        assert_eq!(read_string(json.as_bytes()).err(), Some(NotAString), "{json}");
    }
    assert_eq!(read_string(b"\"\xff\"").err(), Some(NotAString));
    assert_eq!(read_string(b"\"\xed\xa0\x80\"").err(), Some(NotAString));
}

#[test]
fn what_must_be_escaped_is_found_wherever_it_stands() {
    for character in ["\"", "\\", "\n", "\u{1f}", "é", "😀", "\u{7f}"] {
        for at in 0..24 {
            let text = ["a".repeat(at), character.to_owned(), "z".repeat(24 - at)].concat();
            let mut json = Vec::new();
            write_string(&text, &mut json);
            assert_eq!(json, serde_json::to_vec(&text).unwrap(), "{character:?} at {at}");
            assert_eq!(&*read_string(&json).unwrap(), text.as_bytes());
            let bare = [b"\"", text.as_bytes(), b"\""].concat();
            let stands_for_itself = !matches!(character, "\"" | "\\" | "\n" | "\u{1f}");
            assert_eq!(read_string(&bare).is_ok(), stands_for_itself, "{character:?} at {at}");
        }
    }
}
