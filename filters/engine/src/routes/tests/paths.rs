//! Which paths fit, in all their spellings.

use proptest::prelude::*;

use super::*;
use crate::routes::template::Template;

#[test]
fn what_is_no_route_is_refused_with_the_reason() {
    for (text, expected) in [
        ("", "it does not begin with /"),
        ("a", "it does not begin with /"),
        ("/a/", "it has an empty segment"),
        ("//", "it has an empty segment"),
        ("//**", "it has an empty segment"),
        ("/a//**", "it has an empty segment"),
        ("/a/./b", "it has a dot segment"),
        ("/..", "it has a dot segment"),
        ("/**/a", "it has ** before its end"),
        ("/**/**", "it has ** before its end"),
        ("/a**", "it has ** before its end"),
        ("/a{b}", "it has a parameter in a part of a segment"),
        ("/{a}{b}", "{a}{b} is no parameter"),
        ("/{}", "{} is no parameter"),
        ("/{1a}", "{1a} is no parameter"),
        ("/{a-b}", "{a-b} is no parameter"),
        ("/{a}/{a}", "it has {a} twice"),
        ("/a%20b", "it has one of"),
        ("/a?b", "it has one of"),
        ("/a#b", "it has one of"),
        ("/a;b", "it has one of"),
        ("/a\\b", "it has one of"),
        ("/a\nb", "it has one of"),
    ] {
        let error = text.parse::<Template>().unwrap_err();
        let is_told = error.replace("{{", "{").starts_with(expected);
        assert!(is_told, "{text}: {error}");
    }
    for text in ["/", "/**", "/a", "/a/**", "/{a}/b/{_c1}/**", "/a.b/-_~*", "/caf\u{e9}", "/a b", "/a:b@c"] {
        assert!(text.parse::<Template>().is_ok(), "{text}");
    }
}

#[test]
fn paths_that_servers_read_in_different_ways_have_no_route() {
    let service = service(&[marked("/a/{b}", "one")]);
    for path in [
        "a/1",
        "http://host/a/1",
        "/a/..",
        "/a/../a/1",
        "/a/.",
        "/./a/1",
        "/a/1/..",
        "/%2e%2E/a/1",
        "/a/%2e",
        "/a/.%2e/b",
        "/a/..;/b",
        "/a/..;x=1/b",
        "/a/..%3bx/b",
        "/;/a/1",
        "/a/;x",
        "/a/%3Bx",
        "/a%2f1",
        "/a%2F1",
        "/a%5c1",
        "/a\\1",
        "/a/%00",
        "/a/%0a",
        "/a/%7f",
        "/a/\u{1}",
        "/a/%c2%80",
        "/a/%",
        "/a/%4",
        "/a/%zz",
        "/a/%+1",
        "/a/%ff",
        "/a/%c0%af",
        "/a/%C0%AE%C0%AE",
        "/a/1?x=1",
        "/a/1#x",
    ] {
        assert_eq!(service.route("GET", path).err(), Some(Unroutable::BadPath), "{path}");
    }
}

#[test]
fn spelling_hides_nothing() {
    let service = service(&[route("/customers/{id}", &[field("segment", "id", "id")])]);
    for (path, index) in [
        ("/customers/7", 1),
        ("/customers/7/", 1),
        ("//customers/7", 2),
        ("/customers//7", 2),
        ("///customers///7///", 5),
        ("/%63ustomers/7", 1),
        ("/%63%75%73%74%6F%6d%65%72%73/%37", 1),
        ("/customers;v=1/7", 1),
        ("/customers;v=1;w/7;x=..%2e", 1),
        ("/customers%3Bv=1/7", 1),
        ("/customers/%2525", 1),
        ("/customers/a.b", 1),
        ("/customers/...", 1),
        ("/customers/ ", 1),
    ] {
        let route = service.route("GET", path).unwrap();
        assert_eq!(route.segments.first().map(|(index, _)| *index), Some(index), "{path}");
    }
    for path in [
        "/",
        "/customers",
        "/customers/",
        "/customers/7/8",
        "/customer/7",
        "/Customers/7",
        "/%2563ustomers/7",
    ] {
        assert!(service.route("GET", path).unwrap().is_empty(), "{path}");
    }
}

/// A segment of a route: what it is written as, and whether it is a parameter.
fn segment() -> impl Strategy<Value = (String, bool)> {
    prop_oneof![
        proptest::sample::select(vec!["a", "b", "ab", "\u{e9}"]).prop_map(|text| (text.to_owned(), false)),
        Just((String::new(), true)),
    ]
}

fn template_of(segments: &[(String, bool)], is_open: bool) -> String {
    let mut written: Vec<String> = Vec::new();
    for (index, (text, is_parameter)) in segments.iter().enumerate() {
        written.push(if *is_parameter { format!("{{p{index}}}") } else { text.clone() });
    }
    if is_open {
        written.push("**".to_owned());
    }
    format!("/{}", written.join("/"))
}

/// One way to write a byte of a segment.
fn spelt(text: &str, ways: &[u8]) -> String {
    let mut spelt = String::new();
    for (index, character) in text.chars().enumerate() {
        let mut bytes = [0; 4];
        for byte in character.encode_utf8(&mut bytes).bytes() {
            match ways.get(index).copied().unwrap_or_default() % 3 {
                0 if character.is_ascii() => spelt.push(character),
                1 => spelt.push_str(&format!("%{byte:02x}")),
                _ => spelt.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    spelt
}

proptest! {
    /// Against the plainest reading: the texts of both, one beside the other.
    #[test]
    fn path_fits_as_its_segments_do(
        segments in proptest::collection::vec(segment(), 0..4),
        is_open in any::<bool>(),
        texts in proptest::collection::vec(proptest::sample::select(vec!["a", "b", "ab", "\u{e9}", "7"]), 0..5),
    ) {
        let service = service(&[marked(&template_of(&segments, is_open), "x")]);
        let path = format!("/{}", texts.join("/"));
        let alike = segments.iter().zip(&texts).all(|((text, parameter), of_path)| *parameter || text == of_path);
        let expected = alike && (segments.len() == texts.len() || (is_open && segments.len() < texts.len()));
        prop_assert_eq!(!service.route("GET", &path).unwrap().is_empty(), expected, "{}", path);
    }

    /// Encoded, with slashes too many and with parameters of segments: what fits in one spelling fits in all.
    #[test]
    fn no_spelling_escapes_a_route(
        segments in proptest::collection::vec(segment(), 1..4),
        is_open in any::<bool>(),
        values in proptest::collection::vec("[a-z0-9 .é+~$-]{0,5}x", 4),
        ways in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 8), 6),
        slashes in proptest::collection::vec(1..4_usize, 6),
        parameters in proptest::collection::vec(proptest::sample::select(vec!["", ";", ";v=1", ";a;b=%20", "%3b"]), 6),
        more in proptest::collection::vec("[a-z]{1,3}", 0..3),
        trailing in 0..3_usize,
    ) {
        let fields: Vec<Value> = segments.iter().enumerate().filter(|(_, (_, is_parameter))| *is_parameter)
            .map(|(index, _)| field("segment", &format!("p{index}"), &format!("l{index}"))).collect();
        let mut route = route(&template_of(&segments, is_open), &fields);
        route["fields"].as_array_mut().unwrap().push(field("query", "q", "x"));
        let service = service(&[route]);
        let mut texts: Vec<String> = segments.iter().zip(&values)
            .map(|((text, is_parameter), value)| if *is_parameter { value.clone() } else { text.clone() }).collect();
        texts.extend(more.into_iter().filter(|_| is_open));
        let mut path = String::new();
        for (index, text) in texts.iter().enumerate() {
            path.push_str(&"/".repeat(slashes[index % 6]));
            path.push_str(&spelt(text, &ways[index % 6]));
            path.push_str(parameters[index % 6]);
        }
        path.push_str(&"/".repeat(trailing));
        let route = service.route("GET", &path).unwrap();
        prop_assert!(route.matched && route.query.len() == 1, "{}", path);
        // Each index leads to where the value was sent.
        let sent: Vec<&str> = path[1..].split('/').collect();
        for (index, field) in &route.segments {
            let number: usize = field.spec.label[1..].parse().unwrap();
            let expected = spelt(&values[number], &ways[number % 6]) + parameters[number % 6];
            prop_assert_eq!(sent[*index], expected.as_str());
        }
    }

    #[test]
    fn no_path_panics(path in "(/|[/.;%2e5cCfF0-9a?#\\\\é\u{0}]){0,20}") {
        let service = service(&[marked("/a/{b}", "one"), marked("/**", "all")]);
        let _ = service.route("GET", &path);
    }

    /// However it is spelt: a path with a dot segment is read in different ways.
    #[test]
    fn dot_segments_are_refused_in_every_spelling(
        dots in proptest::sample::select(vec![".", ".."]),
        ways in proptest::collection::vec(any::<u8>(), 2),
        parameters in proptest::sample::select(vec!["", ";", ";v=1", "%3b"]),
        before in proptest::collection::vec("[a-z]{0,2}", 0..3),
        after in proptest::collection::vec("[a-z]{0,2}", 0..3),
    ) {
        let mut segments = before;
        segments.push(spelt(dots, &ways) + parameters);
        segments.extend(after);
        let path = format!("/{}", segments.join("/"));
        let service = service(&[marked("/**", "all")]);
        prop_assert_eq!(service.route("GET", &path).err(), Some(Unroutable::BadPath), "{}", path);
    }
}
