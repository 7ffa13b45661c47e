//! Encoded bodies.

use fieldveil_engine::http::encoding::{Coding, Decoder, Fault};

/// More than a window with what is decoded at a time.
const MAX_HELD_BYTES: usize = 18 << 20;

/// The first byte picks the coding, the next two where the body is cut.
pub(crate) fn encoding(bytes: &[u8]) {
    let [coding, one, other, body @ ..] = bytes else { return };
    let coding = match coding % 3 {
        0 => Coding::Gzip,
        1 => Coding::Brotli,
        _ => Coding::Zstd,
    };
    let one = usize::from(*one).min(body.len());
    let other = usize::from(*other).clamp(one, body.len().max(one)).min(body.len());
    let whole = decoded(coding, &[body]);
    let cut = decoded(coding, &[&body[..one], &body[one..other], &body[other..]]);
    assert_eq!(whole, cut, "one result at every cut");
    if whole.is_some() && !body.is_empty() && coding == Coding::Brotli {
        assert!(decoded(coding, &[body, b"\0"]).is_none(), "what follows the end is refused");
    }
}

/// What a body that comes in these parts is; a wrong one may be found to be wrong in several places.
fn decoded(coding: Coding, parts: &[&[u8]]) -> Option<Vec<u8>> {
    let (mut decoder, mut out) = (Decoder::new(coding), Vec::new());
    for part in parts {
        read(&mut decoder, part, &mut out).ok()?;
        assert!(decoder.held() <= MAX_HELD_BYTES, "what is held is bounded");
    }
    decoder.finish().ok().map(|()| out)
}

fn read(decoder: &mut Decoder, part: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut pieces = decoder.pieces(part);
    while let Some(piece) = pieces.next_piece()? {
        out.extend_from_slice(piece);
    }
    Ok(())
}
