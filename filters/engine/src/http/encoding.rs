//! Content codings (RFC 9110, section 8.4.1): what a body is encoded in, and its decoding piece by piece as it comes.
//!
//! What it gives out is bounded whatever comes in, and what does not come to its proper end is never taken for whole. Not for
//! bodies that pass untouched: those stay encoded as they are.

mod accept;
mod brotli;
mod counted;
mod gzip;
mod zstd;

use super::head::Head;

pub(super) use self::accept::readable;

/// Decoded bytes that one piece of a body may become. What a call lets through is written anew at once, and leaves at once:
/// so it is held to less than Envoy takes in one go.
const MAX_DECODED_AT_ONCE: usize = 32 << 20;
/// Decoded bytes for each that came, beyond [`FREE_BYTES`]. JSON rarely comes to 30; deflate ends at 1,032, the others have no
/// end, so that a few bytes could keep sidecar and service busy for long. Apache's mod_deflate draws the line here, too.
const MAX_RATIO: u64 = 200;
/// Decoded bytes that are given out whatever the ratio, as for a short body of one letter.
const FREE_BYTES: u64 = 4 << 20;

/// A coding that is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip` and `x-gzip`, RFC 1952.
    Gzip,
    /// `br`, RFC 7932.
    Brotli,
    /// `zstd`, RFC 8878.
    Zstd,
}

impl Coding {
    /// By its registered name, in any case of letters.
    pub fn named(name: &[u8]) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Some(Self::Gzip),
            () if is("br") => Some(Self::Brotli),
            () if is("zstd") => Some(Self::Zstd),
            () => None,
        }
    }
}

/// What a body is encoded in, by its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// In nothing.
    Identity,
    /// In one coding that is decoded.
    One(Coding),
    /// In another, or in several.
    Other,
}

impl Encoding {
    /// Of a body with this head.
    pub(super) fn of(head: &Head) -> Self {
        let codings = head.all("content-encoding").flat_map(|value| value.split(|byte| *byte == b','));
        let mut codings = codings
            .map(<[u8]>::trim_ascii)
            .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"));
        match (codings.next(), codings.next()) {
            (None, _) => Self::Identity,
            (Some(coding), None) => Coding::named(coding).map_or(Self::Other, Self::One),
            (Some(_), Some(_)) => Self::Other,
        }
    }
}

/// Why a body cannot be decoded. It holds nothing of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is not what its coding's specification says.
    #[error("{0}")]
    Malformed(&'static str),
    /// It needs more memory than one body is given.
    #[error("a window of more than {0} bytes")]
    Window(usize),
    /// So much came out of so little that it may be meant to do harm.
    #[error("more than {0} times its encoded length")]
    Ratio(usize),
    /// More came out of one piece than can be written at once.
    #[error("more than {0} bytes at once")]
    AtOnce(usize),
}

/// One coding's decoder.
trait Decode {
    /// Takes some of the input and gives out what it came to; nothing once all is taken and given out.
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, Fault>;
    /// Whether what has come ends where it may.
    fn is_whole(&self) -> bool;
    /// Bytes that are kept at the moment, as well as it can be known.
    fn held(&self) -> usize;
}

/// A body's decoder.
pub struct Decoder {
    codec: Box<dyn Decode>,
    came: u64,
    gave: u64,
}

impl Decoder {
    /// Of a body that begins.
    pub fn new(coding: Coding) -> Self {
        let codec: Box<dyn Decode> = match coding {
            Coding::Gzip => Box::new(gzip::Gzip::new()),
            Coding::Brotli => Box::new(brotli::Brotli::new()),
            Coding::Zstd => Box::new(zstd::Zstd::new()),
        };
        Self { codec, came: 0, gave: 0 }
    }

    /// What these bytes of the body come to.
    pub fn pieces<'a>(&'a mut self, bytes: &'a [u8]) -> Pieces<'a> {
        Pieces { decoder: self, rest: bytes, given: 0 }
    }

    /// The body has ended; it is malformed if it should not have. No byte at all is no body.
    pub fn finish(&self) -> Result<(), Fault> {
        match self.came == 0 || self.codec.is_whole() {
            true => Ok(()),
            false => Err(Fault::Malformed("the encoded body is cut short")),
        }
    }

    /// Bytes that are kept at the moment.
    pub fn held(&self) -> usize {
        self.codec.held()
    }
}

/// The decoded pieces of some bytes of a body.
pub struct Pieces<'a> {
    decoder: &'a mut Decoder,
    rest: &'a [u8],
    given: usize,
}

impl Pieces<'_> {
    /// The next of them; none when all bytes are taken.
    pub fn next_piece(&mut self) -> Result<Option<&[u8]>, Fault> {
        let Decoder { codec, came, gave } = &mut *self.decoder;
        let before = self.rest.len();
        let piece = codec.next(&mut self.rest)?;
        let (taken, given) = (before.saturating_sub(self.rest.len()), piece.map_or(0, <[u8]>::len));
        *came = came.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        *gave = gave.saturating_add(u64::try_from(given).unwrap_or(u64::MAX));
        self.given = self.given.saturating_add(given);
        if *gave > came.saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES) {
            return Err(Fault::Ratio(usize::try_from(MAX_RATIO).unwrap_or(usize::MAX)));
        }
        if self.given > MAX_DECODED_AT_ONCE {
            return Err(Fault::AtOnce(MAX_DECODED_AT_ONCE));
        }
        Ok(piece)
    }
}

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;
