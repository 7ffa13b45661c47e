//! Header fields that speak of a body's bytes, which are not what the other side has: validators, digests, ranges.

use std::collections::BTreeSet;

use super::encoding;
use super::head::Head;
use super::output::Edit;

/// Digests of a body, or of what it represents: RFC 9530, RFC 3230, RFC 1864.
const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];
/// Cache directives that come before `Cache-Control` for some shared caches: RFC 9213's forerunner, and nginx's.
const TARGETED: [&str; 2] = ["surrogate-control", "x-accel-expires"];
/// RFC 9213's own, and those of vendors that end like it.
const TARGETED_BY_NAME: &str = "cdn-cache-control";

/// Removes those of these that are there.
pub(super) fn remove(head: &Head, names: &[&str], edits: &mut Vec<Edit>) {
    let there = names.iter().filter(|name| head.first(name).is_some());
    edits.extend(there.map(|name| Edit::Remove((*name).to_owned())));
}

/// A body in which fields are named goes on: its digests may be wrong.
pub(super) fn remove_digests(head: &Head, edits: &mut Vec<Edit>) {
    remove(head, &DIGESTS, edits);
}

/// The response to this request will have fields: it is asked for whole, and readable.
pub(super) fn ask_for_whole(head: &Head, edits: &mut Vec<Edit>) {
    match encoding::readable(head.all("accept-encoding")) {
        Some(codings) => edits.push(Edit::Set("accept-encoding".into(), codings)),
        None => remove(head, &["accept-encoding"], edits),
    }
    remove(head, &["range", "if-range"], edits);
}

/// The service knows its strong validators, not the weak ones that its clients were given for them. A comparison for
/// `If-Match` is a strong one, so that one with a weak mark would never succeed: RFC 9110, section 13.1.1.
pub(super) fn strengthen_if_match(head: &Head, edits: &mut Vec<Edit>) {
    edit_all(head, "if-match", without_weak_marks, edits);
}

/// A response in which fields are named: another principal gets other bytes of it, and of the same bytes at the service
/// randomized labels make other ones each time.
pub(super) fn loosen_response(head: &Head, varies: &str, edits: &mut Vec<Edit>) {
    remove(head, &["accept-ranges"], edits);
    remove_digests(head, edits);
    remove(head, &TARGETED, edits);
    let targeted: BTreeSet<&str> = head.names().filter(|name| name.ends_with(TARGETED_BY_NAME)).collect();
    edits.extend(targeted.into_iter().map(|name| Edit::Remove(name.to_owned())));
    edit_all(head, "etag", weak, edits);
    if !is_private(head) {
        edits.push(Edit::Add("cache-control".into(), b"private".to_vec()));
    }
    // A cache that one client keeps for several principals must not show one's answer to another.
    if !varies.is_empty() {
        edits.push(Edit::Add("vary".into(), varies.as_bytes().to_vec()));
    }
}

/// Edits each occurrence of a header field that `change` gives another value for.
pub(super) fn edit_all(
    head: &Head,
    name: &str,
    change: impl Fn(&[u8]) -> Option<Vec<u8>>,
    edits: &mut Vec<Edit>,
) {
    if head.all(name).all(|value| change(value).is_none()) {
        return;
    }
    let values = head.all(name).map(|value| change(value).unwrap_or_else(|| value.to_vec()));
    set_all(name, values, edits);
}

/// Makes these the occurrences of a header field.
pub(super) fn set_all(name: &str, values: impl Iterator<Item = Vec<u8>>, edits: &mut Vec<Edit>) {
    for (index, value) in values.enumerate() {
        let name = name.to_owned();
        edits.push(if index == 0 { Edit::Set(name, value) } else { Edit::Add(name, value) });
    }
}

/// Sets each of these.
pub(super) fn set_headers(headers: &[(String, String)], edits: &mut Vec<Edit>) {
    edits.extend(headers.iter().map(|(name, value)| Edit::Set(name.clone(), value.clone().into_bytes())));
}

fn weak(etag: &[u8]) -> Option<Vec<u8>> {
    (!etag.starts_with(b"W/")).then(|| [b"W/", etag].concat())
}

/// A list of entity tags; a quoted one may hold a comma.
fn without_weak_marks(list: &[u8]) -> Option<Vec<u8>> {
    let mut stripped = Vec::with_capacity(list.len());
    let (mut in_quotes, mut at_start) = (false, true);
    let mut rest = list;
    while let Some((byte, after)) = rest.split_first() {
        if at_start && let Some(after) = rest.strip_prefix(b"W/") {
            (rest, at_start) = (after, false);
            continue;
        }
        in_quotes ^= *byte == b'"';
        at_start = !in_quotes && (*byte == b',' || (at_start && matches!(byte, b' ' | b'\t')));
        stripped.push(*byte);
        rest = after;
    }
    (stripped.len() != list.len()).then_some(stripped)
}

fn is_private(head: &Head) -> bool {
    let directives = head.all("cache-control").flat_map(|value| value.split(|byte| *byte == b','));
    // `private="x"` speaks of header fields alone.
    directives
        .map(<[u8]>::trim_ascii)
        .any(|word| word.eq_ignore_ascii_case(b"private") || word.eq_ignore_ascii_case(b"no-store"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_marks_are_taken_off_entity_tags_and_nothing_else() {
        for (list, stripped) in [
            (r#"W/"a""#, Some(r#""a""#)),
            (r#"W/"a", "b",W/"c""#, Some(r#""a", "b","c""#)),
            (r#""W/", "x, W/y""#, None),
            ("*", None),
            (r#" W/"a,W/""#, Some(r#" "a,W/""#)),
        ] {
            let found = without_weak_marks(list.as_bytes());
            assert_eq!(found.as_deref(), stripped.map(str::as_bytes), "{list}");
        }
    }

    #[test]
    fn only_what_forbids_shared_caches_is_private() {
        let with = |value: &str| is_private(&Head(vec![("cache-control".into(), value.into())]));
        assert!(with("private") && with("max-age=3, No-Store"));
        assert!(!with("public, max-age=3") && !with("private=\"set-cookie\"") && !with(""));
    }
}
