//! gzip, RFC 1952: one member or many, each with a checksum and its length behind it.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::{Decode, Fault};

/// Decoded bytes that are given out at a time.
const PIECE_BYTES: usize = 32 << 10;
/// What inflating takes, window and codes, and the piece that is given out.
const HELD_BYTES: usize = 96 << 10;
/// Members of one body. Each is set up anew, which costs much more than the 20 bytes of an empty one; block gzip has one in
/// 64 KB.
const MAX_MEMBERS: u32 = 1 << 16;

/// The fixed part of a member's header, section 2.3.
const FIXED_BYTES: u8 = 10;
const DEFLATE: u8 = 8;
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

const NO_GZIP: Fault = Fault::Malformed("it is not gzip");
const CORRUPT: Fault = Fault::Malformed("it is corrupt gzip");
const CHECKSUM: Fault = Fault::Malformed("its checksum is another");

/// Where a member stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GzipStage {
    Fixed(u8),
    ExtraLength(Number),
    Extra(u64),
    Name,
    Comment,
    HeaderCrc(Number),
    Deflate,
    Trailer(Number),
}

/// A number of some bytes, the lowest first, of which `left` are to come.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number {
    value: u64,
    shift: u32,
    left: u8,
}

impl Number {
    const fn of(bytes: u8) -> Self {
        Self { value: 0, shift: 0, left: bytes }
    }

    fn with(self, byte: u8) -> Self {
        let value = self.value | u64::from(byte).checked_shl(self.shift).unwrap_or_default();
        Self { value, shift: self.shift.saturating_add(8), left: self.left.saturating_sub(1) }
    }
}

pub(super) struct Gzip {
    inflate: Decompress,
    stage: GzipStage,
    flags: u8,
    header: Crc,
    content: Crc,
    members: u32,
    piece: Vec<u8>,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            inflate: Decompress::new(false),
            stage: GzipStage::Fixed(0),
            flags: 0,
            header: Crc::new(),
            content: Crc::new(),
            members: 0,
            piece: vec![0; PIECE_BYTES],
        }
    }

    /// One byte of a header or of a trailer.
    fn frame(&mut self, byte: u8) -> Result<(), Fault> {
        if !matches!(self.stage, GzipStage::HeaderCrc(_) | GzipStage::Trailer(_)) {
            self.header.update(&[byte]);
        }
        self.stage = match self.stage {
            GzipStage::Fixed(at) => self.fixed(at, byte)?,
            GzipStage::ExtraLength(number) => match number.with(byte) {
                Number { value, left: 0, .. } if value > 0 => GzipStage::Extra(value),
                Number { left: 0, .. } => self.after(EXTRA),
                number => GzipStage::ExtraLength(number),
            },
            GzipStage::Extra(left) if left > 1 => GzipStage::Extra(left.saturating_sub(1)),
            GzipStage::Extra(_) => self.after(EXTRA),
            GzipStage::Name if byte == 0 => self.after(NAME),
            GzipStage::Comment if byte == 0 => self.after(COMMENT),
            GzipStage::HeaderCrc(number) => match number.with(byte) {
                Number { value, left: 0, .. } if value == u64::from(self.header.sum() & 0xffff) => {
                    GzipStage::Deflate
                }
                Number { left: 0, .. } => return Err(CHECKSUM),
                number => GzipStage::HeaderCrc(number),
            },
            GzipStage::Trailer(number) => match number.with(byte) {
                Number { value, left: 0, .. } => self.end(value)?,
                number => GzipStage::Trailer(number),
            },
            same @ (GzipStage::Name | GzipStage::Comment | GzipStage::Deflate) => same,
        };
        Ok(())
    }

    fn fixed(&mut self, at: u8, byte: u8) -> Result<GzipStage, Fault> {
        match (at, byte) {
            (0, 0x1f) if self.members == MAX_MEMBERS => Err(Fault::Malformed("it has too many members")),
            (0, 0x1f) | (1, 0x8b) | (2, DEFLATE) | (4.., _) => Ok(()),
            (3, flags) if flags & RESERVED == 0 => {
                self.flags = flags;
                Ok(())
            }
            (0, _) if self.members > 0 => Err(Fault::Malformed("bytes follow its end")),
            _ => Err(NO_GZIP),
        }?;
        let next = at.saturating_add(1);
        Ok(if next < FIXED_BYTES { GzipStage::Fixed(next) } else { self.after(0) })
    }

    /// The part behind the one that this flag stands for; they come in this order.
    fn after(&self, flag: u8) -> GzipStage {
        let follows = |next: u8| next > flag && self.flags & next != 0;
        match () {
            () if follows(EXTRA) => GzipStage::ExtraLength(Number::of(2)),
            () if follows(NAME) => GzipStage::Name,
            () if follows(COMMENT) => GzipStage::Comment,
            () if self.flags & HEADER_CRC != 0 => GzipStage::HeaderCrc(Number::of(2)),
            () => GzipStage::Deflate,
        }
    }

    /// The member has ended with CRC32 and ISIZE.
    fn end(&mut self, trailer: u64) -> Result<GzipStage, Fault> {
        let length = u64::from(self.content.amount());
        if trailer != length.checked_shl(32).unwrap_or_default() | u64::from(self.content.sum()) {
            return Err(CHECKSUM);
        }
        self.inflate.reset(false);
        self.header.reset();
        self.content.reset();
        self.members = self.members.saturating_add(1);
        Ok(GzipStage::Fixed(0))
    }

    /// Inflates into the piece, and says how much of it there is.
    fn inflate(&mut self, input: &mut &[u8]) -> Result<usize, Fault> {
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, &mut self.piece, FlushDecompress::None);
        let since = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(usize::MAX);
        let taken = since(self.inflate.total_in(), before.0);
        let given = since(self.inflate.total_out(), before.1);
        *input = input.get(taken..).unwrap_or_default();
        self.content.update(self.piece.get(..given).unwrap_or_default());
        if status.map_err(|_| CORRUPT)? == Status::StreamEnd {
            self.stage = GzipStage::Trailer(Number::of(8));
        } else if taken == 0 && given == 0 && !input.is_empty() {
            return Err(CORRUPT);
        }
        Ok(given)
    }
}

impl Decode for Gzip {
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, Fault> {
        loop {
            if self.stage == GzipStage::Deflate {
                let given = self.inflate(input)?;
                if given > 0 {
                    return Ok(self.piece.get(..given));
                }
                if self.stage == GzipStage::Deflate && input.is_empty() {
                    return Ok(None);
                }
            }
            let Some((byte, rest)) = input.split_first() else { return Ok(None) };
            if self.stage != GzipStage::Deflate {
                *input = rest;
                self.frame(*byte)?;
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.stage == GzipStage::Fixed(0) && self.members > 0
    }

    fn held(&self) -> usize {
        HELD_BYTES
    }
}
