//! What a service is asked for where its answer is looked into.

/// What decodes while it streams. In zstd the decoder keeps a window back until its frame ends, so that an event or a line would
/// wait for the next ones: a service that sends it unasked is understood, but none is asked for it.
const READABLE: [&str; 4] = ["gzip", "x-gzip", "br", "identity"];

/// Of these values of `Accept-Encoding` the codings that are decoded, as they stand; none if none is there. What a client
/// did not ask for the service is not asked for either.
pub(in crate::http) fn readable<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let members = values.flat_map(|value| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    let named = |member: &&[u8]| {
        let name = member.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        READABLE.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    };
    let kept: Vec<&[u8]> = members.filter(named).collect();
    (!kept.is_empty()).then(|| kept.join(&b", "[..]))
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn codings_that_are_decoded_stay_as_they_are_and_no_other() {
        for (values, kept) in [
            (&["gzip, deflate, br, zstd"][..], Some("gzip, br")),
            (&["zstd;q=1, GZIP;q=0.5 , *;q=0"], Some("GZIP;q=0.5")),
            (&["br;q=0.9", "x-gzip", "identity;q=0.1"], Some("br;q=0.9, x-gzip, identity;q=0.1")),
            (&["deflate", "*"], None),
            (&["", ",,"], None),
            (&[], None),
        ] {
            let found = readable(values.iter().map(|value| value.as_bytes()));
            assert_eq!(found.as_deref(), kept.map(str::as_bytes), "{values:?}");
        }
    }
}
