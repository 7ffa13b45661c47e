//! What a body is, by its head.

use fieldveil_json_stream::Framing;

use super::head::Head;

/// What a body's fields can be found in, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON, one document or many.
    Json(Framing),
    /// Something else; the text says what.
    Other(&'static str),
}

/// In a text that is told to a client: media types are long and the peer's own words, so they are named, not quoted.
const NONE: &str = "it has no content type";
const SEVERAL: &str = "it has several content types";
const UNREADABLE: &str = "its content type cannot be read";
const CHARSET: &str = "its charset is another than UTF-8";
const MULTIPART: &str = "multipart bodies hold several parts, and fields are not looked for in them";
const FORM: &str = "it is a form, not JSON";
const GRPC: &str = "it is gRPC, not JSON";
const PATCH: &str = "a JSON Patch names its fields in a way that no path of the plan follows";
const ANOTHER: &str = "its media type is none of JSON";

impl Media {
    /// Of a body with this head.
    pub(super) fn of(head: &Head) -> Self {
        let mut types = head.all("content-type");
        match (types.next(), types.next()) {
            (None, _) => Self::Other(NONE),
            (Some(_), Some(_)) => Self::Other(SEVERAL),
            (Some(value), None) => Self::read(value),
        }
    }

    fn read(value: &[u8]) -> Self {
        // As nearly every body says it.
        if value == b"application/json" {
            return Self::Json(Framing::Document);
        }
        let Some(text) = std::str::from_utf8(value).ok().filter(|text| text.is_ascii()) else {
            return Self::Other(UNREADABLE);
        };
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim_matches([' ', '\t']).to_ascii_lowercase();
        let Some((kind, subtype)) = essence.split_once('/').filter(|(a, b)| is_token(a) && is_token(b))
        else {
            return Self::Other(UNREADABLE);
        };
        let framing = match framing(kind, subtype) {
            Ok(framing) => framing,
            Err(reason) => return Self::Other(reason),
        };
        match charset_is_utf8(parameters) {
            Some(true) => Self::Json(framing),
            Some(false) => Self::Other(CHARSET),
            None => Self::Other(UNREADABLE),
        }
    }
}

fn framing(kind: &str, subtype: &str) -> Result<Framing, &'static str> {
    Ok(match (kind, subtype) {
        ("application", "json-patch+json") => return Err(PATCH),
        ("application", "json") => Framing::Document,
        ("application", "x-ndjson" | "jsonl" | "x-jsonlines" | "json-lines") => Framing::Lines,
        ("application", "json-seq") => Framing::Sequence,
        ("text", "event-stream") => Framing::Events,
        ("application", "x-www-form-urlencoded") => return Err(FORM),
        ("multipart", _) => return Err(MULTIPART),
        ("application", grpc) if grpc == "grpc" || grpc.starts_with("grpc+") || grpc.starts_with("grpc-") => {
            return Err(GRPC);
        }
        // RFC 8091.
        (_, subtype) if subtype.ends_with("+json-seq") => Framing::Sequence,
        // RFC 6839.
        (_, subtype) if subtype.ends_with("+json") => Framing::Document,
        _ => return Err(ANOTHER),
    })
}

/// Whether all charset parameters say UTF-8; `None` if the parameters cannot be read. RFC 9110, section 5.6.6.
fn charset_is_utf8(parameters: &str) -> Option<bool> {
    let mut is_utf8 = true;
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        if rest.is_empty() {
            return Some(is_utf8);
        }
        let (name, after) = rest.split_once('=')?;
        if !is_token(name) {
            return None;
        }
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = after.find([';', ' ', '\t']).unwrap_or(after.len());
                let (value, after) = after.split_at_checked(end)?;
                (is_token(value).then(|| value.to_owned())?, after)
            }
        };
        if name.eq_ignore_ascii_case("charset") {
            is_utf8 &= value.eq_ignore_ascii_case("utf-8") || value.eq_ignore_ascii_case("utf8");
        }
        rest = after.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with(';') {
            return None;
        }
    }
}

/// The text of a quoted string behind its first quote, and what follows it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((text, characters.as_str())),
            '\\' => text.push(characters.next()?),
            character => text.push(character),
        }
    }
}

fn is_token(text: &str) -> bool {
    let of_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(of_token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Media {
        Media::of(&Head(vec![("content-type".into(), value.into())]))
    }

    #[test]
    fn json_is_known_in_every_media_type_and_spelling_of_it() {
        for text in [
            "application/json",
            "Application/JSON",
            " application/json ",
            "application/json; charset=utf-8",
            "application/json ;charset=\"UTF-8\";",
            "application/json;charset=utf8; version=1",
            "application/problem+json",
            "application/vnd.shop.v1+json; q=\"a\\\";b\"",
            "application/merge-patch+json",
        ] {
            assert_eq!(of(text), Media::Json(Framing::Document), "{text}");
        }
        for (text, framing) in [
            ("application/x-ndjson", Framing::Lines),
            ("application/jsonl", Framing::Lines),
            ("application/x-jsonlines", Framing::Lines),
            ("application/json-lines", Framing::Lines),
            ("application/json-seq", Framing::Sequence),
            ("application/geo+json-seq", Framing::Sequence),
            ("text/event-stream; charset=UTF-8", Framing::Events),
        ] {
            assert_eq!(of(text), Media::Json(framing), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_in_utf_8_is_told_apart() {
        for (text, reason) in [
            ("application/json; charset=utf-16", CHARSET),
            ("application/json; charset=utf-8; charset=latin1", CHARSET),
            ("application/json; charset=\"utf-8", UNREADABLE),
            ("application/json; charset", UNREADABLE),
            ("application/json, text/html", UNREADABLE),
            ("json", UNREADABLE),
            ("", UNREADABLE),
            ("multipart/form-data; boundary=x", MULTIPART),
            ("application/x-www-form-urlencoded", FORM),
            ("application/grpc", GRPC),
            ("application/grpc+json", GRPC),
            ("application/grpc-web+proto", GRPC),
            ("application/json-patch+json", PATCH),
            ("text/html", ANOTHER),
            ("application/octet-stream", ANOTHER),
        ] {
            assert_eq!(of(text), Media::Other(reason), "{text}");
        }
        assert_eq!(Media::of(&Head::default()), Media::Other(NONE));
        let twice = [("content-type", "application/json"), ("content-type", "application/json")];
        let twice = Head(twice.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect());
        assert_eq!(Media::of(&twice), Media::Other(SEVERAL));
    }
}
