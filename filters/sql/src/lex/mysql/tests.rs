use super::{Kind, Style};
use crate::dialect::MySqlDialect;

const PLAIN: MySqlDialect = MySqlDialect {
    ansi_quotes: false,
    no_backslash_escapes: false,
    pipes_as_concat: false,
    mariadb: false,
    folds_tables: false,
    decoded: false,
    other_meaning: None,
};

fn read_in(text: &str, dialect: MySqlDialect) -> Option<Vec<String>> {
    let describe = |token: &super::Token| match &token.kind {
        Kind::Word { value, quoted } => format!("{}{value}", if *quoted { "Q:" } else { "" }),
        Kind::Text { value, style: Style::Hex } => format!("x{}", value.as_str()),
        Kind::Text { value, style: Style::Bits } => format!("b{}", value.as_str()),
        Kind::Text { value, .. } => format!("'{}", value.as_str()),
        Kind::Parameter(number) => format!("?{}", number.unwrap_or_default()),
        Kind::Variable { name, system } => format!("{}{name}", if *system { "@@" } else { "@" }),
        Kind::Symbol | Kind::Number => token.source(text).to_owned(),
    };
    let tokens = super::lex(text, dialect).ok()?;
    Some(tokens.iter().map(describe).collect())
}

fn read(text: &str) -> Vec<String> {
    read_in(text, PLAIN).unwrap_or_else(|| panic!("in doubt: {text}"))
}

#[test]
fn tokens_are_those_of_the_server() {
    for (text, expected) in [
        ("Select `A``b` É a$1", vec!["select", "Q:a`b", "é", "a$1"]),
        ("a-- b\nc/*d/*e*/f#g\nh", vec!["a", "c", "f", "h"]),
        ("a--b a--\nb --", vec!["a", "-", "-", "b", "a", "b"]),
        ("a#b\rc\nd", vec!["a", "d"]),
        ("1-- -1\n+1", vec!["1", "+", "1"]),
        ("'a''b' 'a\"b' \"a\"\"b'c\"", vec!["'a'b", "'a\"b", "'a\"b'c"]),
        ("'\\'\\\"\\n\\t\\Z\\0\\%\\_\\a\\\\'", vec!["''\"\n\t\u{1a}\0\\%\\_a\\"]),
        ("'é\\é'", vec!["'éé"]),
        ("N'a' n'b' _utf8mb4'c' _binary 0x41", vec!["'a", "'b", "_utf8mb4", "'c", "_binary", "x41"]),
        (
            "x'4F' X'' 0x4f 0xF 0X1 0xg b'01' B'' 0b01",
            vec!["x4F", "x", "x4f", "x0F", "0x1", "0xg", "b01", "b", "b01"],
        ),
        (
            "1 1.5 .5 1e5 1.e-5 1.5E+2 1a 1_0 12e 1$",
            vec!["1", "1.5", ".5", "1e5", "1.e-5", "1.5E+2", "1a", "1_0", "12e", "1$"],
        ),
        (
            "a.1b a.5 a.1e5 a.b.`C`",
            vec!["a", ".", "1b", "a", ".", "5", "a", ".", "1e5", "a", ".", "b", ".", "Q:c"],
        ),
        (
            "@a @A.b @'x y' @\"z\" @`w``` @@sql_mode @@Session.x",
            vec!["@a", "@a.b", "@x y", "@z", "@w`", "@@sql_mode", "@@session", ".", "x"],
        ),
        (
            "@a:=1 a<=>b a<>b a!=b a>=1 a<<1 a->'$' a->>'$'",
            vec![
                "@a", ":=", "1", "a", "<=>", "b", "a", "<>", "b", "a", "!=", "b", "a", ">=", "1", "a", "<<",
                "1", "a", "->", "'$", "a", "->>", "'$",
            ],
        ),
        (
            "a&&b||c|d&e a=-1 !a",
            vec!["a", "&&", "b", "||", "c", "|", "d", "&", "e", "a", "=", "-", "1", "!", "a"],
        ),
        ("?,?;? = ?", vec!["?1", ",", "?2", ";", "?3", "=", "?4"]),
        ("SELECT /*!40001 SQL_NO_CACHE */ 1 /* *//*+ INDEX(a b) */", vec!["select", "1"]),
        ("user()@host u@h", vec!["user", "(", ")", "@host", "u", "@h"]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn quotes_and_backslashes_go_by_the_mode() {
    let ansi = MySqlDialect { ansi_quotes: true, ..PLAIN };
    let plain = MySqlDialect { no_backslash_escapes: true, ..PLAIN };
    let tokens = |text, dialect| read_in(text, dialect).unwrap();
    assert_eq!(tokens("\"A\"\"b\" 'c' `d`", ansi), ["Q:a\"b", "'c", "Q:d"]);
    assert_eq!(tokens("\"a\\\" \"b\"", ansi), ["Q:a\\", "Q:b"]);
    assert_eq!(tokens("'a\\' b", plain), ["'a\\", "b"]);
    assert_eq!(tokens("\"\\n\" n'\\'", plain), ["'\\n", "'\\"]);
    assert_eq!(tokens("@\"a\"", ansi), ["@a"]);
    assert!(read_in("@\"a\\\"", ansi).is_none());
    assert!(read_in("'a\\'", PLAIN).is_none());
}

#[test]
fn what_is_not_certain_is_in_doubt() {
    for text in [
        "'a",
        "'a\\'",
        "\"a",
        "`a",
        "``",
        "/* a",
        "/*/",
        "/*! a */",
        "/*!40101 SET NAMES utf8 */",
        "/*M! a */",
        "/*!400011 SQL_NO_CACHE1 */",
        "/*!40001SQL_NO_CACHE */",
        "/*!4000123 SQL_NO_CACHE */",
        "SELECT /*+ INDEX(`a*/`) */ 1",
        "SELECT /*+ Set_Var(sql_mode = ansi) */ 1",
        "a\0b",
        "'a\0b'",
        "x'1'",
        "x'1g'",
        "b'2'",
        "1.5a",
        "1e5a",
        "1e+",
        "1.2.3",
        "`a`.1b",
        "$$a$$",
        "$a",
        "\\N",
        "[",
        "a==b",
        "a=!b",
        "a>=<b",
        "?a",
        "?1",
        "@",
        "@ a",
        "@@ a",
        "@@'a'",
        "@''",
        "li\u{212A}e",
        "`\u{130}d`",
        "😀",
        "\u{1}",
    ] {
        assert!(read_in(text, PLAIN).is_none(), "{text}");
    }
}

#[test]
fn what_was_decoded_from_single_bytes_is_in_doubt_where_a_server_sees_blanks_or_a_comment() {
    let single = MySqlDialect { decoded: true, ..PLAIN };
    for text in ["SELECT\u{a0}1", "a\u{85}", "SELECT 1 --\u{c4}x", "@a\u{a0}b", "1 \u{ad}", "a×b"] {
        assert!(read_in(text, single).is_none(), "{text}");
        assert!(read_in(text, PLAIN).is_some(), "{text}");
    }
    for text in ["'\u{a0}' é `\u{a0}`", "SELECT 1 -- \u{a0}", "/* \u{85} */ ё", "1 - -é"] {
        assert_eq!(read_in(text, single), read_in(text, PLAIN), "{text}");
    }
}
