//! Zstandard, RFC 8878: frames, and frames to skip, one after the other. Without dictionaries, and with windows of up to 8 MiB,
//! as RFC 9659 has it for HTTP.
//!
//! Blocks are gathered here, and each is decoded when it is whole: the library reads, it cannot be given bytes.

mod kept;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use self::kept::KeptBuffers;
use super::{Decode, Fault};

const MAX_WINDOW_BYTES: usize = 8 << 20;
/// Decoded bytes of one block at most, section 3.1.1.2.
const MAX_BLOCK_BYTES: usize = 128 << 10;
/// Section 3.1.1, the lowest byte first, as are all numbers.
const MAGIC: u32 = 0xfd2f_b528;
/// Section 3.1.2: sixteen numbers.
const SKIPPABLE: u32 = 0x184d_2a50;
const MAGIC_BYTES: usize = 4;
const BLOCK_HEADER_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;

const NO_ZSTD: Fault = Fault::Malformed("it is not zstd");
const CORRUPT: Fault = Fault::Malformed("it is corrupt zstd");

/// What is gathered at the moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ZstdStage {
    Magic,
    /// Of a frame: its descriptor, the byte that says how long its header is.
    Descriptor,
    Header,
    SkipLength,
    Skip(u32),
    BlockHeader,
    Block,
}

pub(super) struct Zstd {
    stage: ZstdStage,
    /// What of this stage has come, from the magic number on, or from the block's header on.
    gathered: Vec<u8>,
    /// How long it is when it is whole.
    needed: usize,
    frame: Option<Frame>,
    frames: u64,
    piece: Vec<u8>,
}

/// A frame that has begun.
struct Frame {
    decoder: FrameDecoder,
    has_checksum: bool,
    /// What it says that it comes to.
    content: Option<u64>,
    gave: u64,
    window: usize,
    /// What the library keeps of it.
    kept: KeptBuffers,
}

impl Zstd {
    pub(super) fn new() -> Self {
        Self {
            stage: ZstdStage::Magic,
            gathered: Vec::new(),
            needed: MAGIC_BYTES,
            frame: None,
            frames: 0,
            piece: Vec::new(),
        }
    }

    /// Goes to another stage, with nothing of it there.
    fn begin(&mut self, stage: ZstdStage, needed: usize) {
        self.gathered.clear();
        (self.stage, self.needed) = (stage, needed);
    }

    /// What was needed has come.
    fn step(&mut self) -> Result<(), Fault> {
        match self.stage {
            ZstdStage::Magic => match number(&self.gathered, 0, MAGIC_BYTES) {
                magic if magic == u64::from(MAGIC) => {
                    (self.stage, self.needed) = (ZstdStage::Descriptor, MAGIC_BYTES.saturating_add(1));
                }
                magic if magic & !0xf == u64::from(SKIPPABLE) => self.begin(ZstdStage::SkipLength, 4),
                _ if self.frames > 0 => return Err(Fault::Malformed("bytes follow its end")),
                _ => return Err(NO_ZSTD),
            },
            ZstdStage::Descriptor => {
                self.needed = header_bytes(self.gathered.last().copied().unwrap_or_default());
                self.stage = ZstdStage::Header;
            }
            ZstdStage::Header => {
                self.frame = Some(Frame::begin(&self.gathered)?);
                self.begin(ZstdStage::BlockHeader, BLOCK_HEADER_BYTES);
            }
            ZstdStage::SkipLength => {
                let length = number(&self.gathered, 0, 4);
                self.begin(ZstdStage::Skip(u32::try_from(length).unwrap_or(u32::MAX)), 0);
            }
            ZstdStage::Skip(_) => self.end(),
            ZstdStage::BlockHeader => {
                let frame = self.frame.as_mut().ok_or(CORRUPT)?;
                self.needed = frame.block_bytes(number(&self.gathered, 0, BLOCK_HEADER_BYTES))?;
                self.stage = ZstdStage::Block;
            }
            ZstdStage::Block => {
                let frame = self.frame.as_mut().ok_or(CORRUPT)?;
                let is_last = frame.decode(&self.gathered, &mut self.piece)?;
                match is_last {
                    true => self.end(),
                    false => self.begin(ZstdStage::BlockHeader, BLOCK_HEADER_BYTES),
                }
            }
        }
        Ok(())
    }

    /// A frame has ended.
    fn end(&mut self) {
        self.frame = None;
        self.frames = self.frames.saturating_add(1);
        self.begin(ZstdStage::Magic, MAGIC_BYTES);
    }
}

impl Decode for Zstd {
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, Fault> {
        self.piece.clear();
        loop {
            if let ZstdStage::Skip(left) = self.stage {
                let skipped = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                *input = input.get(skipped..).unwrap_or_default();
                let left = left.saturating_sub(u32::try_from(skipped).unwrap_or(u32::MAX));
                self.stage = ZstdStage::Skip(left);
                if left > 0 {
                    return Ok(None);
                }
            }
            let missing = self.needed.saturating_sub(self.gathered.len());
            let (taken, rest) = input.split_at_checked(missing).unwrap_or((input, &[]));
            *input = rest;
            self.gathered.extend_from_slice(taken);
            if taken.len() < missing {
                return Ok(None);
            }
            self.step()?;
            if !self.piece.is_empty() {
                return Ok(Some(&self.piece));
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.stage == ZstdStage::Magic && self.gathered.is_empty() && self.frames > 0
    }

    fn held(&self) -> usize {
        let frame = self.frame.as_ref().map_or(0, |frame| frame.kept.bytes());
        frame.saturating_add(self.gathered.capacity()).saturating_add(self.piece.capacity())
    }
}

impl Frame {
    /// By its header with the magic number before it.
    fn begin(header: &[u8]) -> Result<Self, Fault> {
        let descriptor = header.get(MAGIC_BYTES).copied().unwrap_or_default();
        if descriptor & 0x08 != 0 {
            return Err(CORRUPT);
        }
        let lengths = Lengths::of(descriptor);
        let dictionary = MAGIC_BYTES.saturating_add(1).saturating_add(lengths.window);
        if number(header, dictionary, lengths.dictionary) != 0 {
            return Err(Fault::Malformed("it needs a dictionary"));
        }
        let content = number(header, dictionary.saturating_add(lengths.dictionary), lengths.content);
        // Section 3.1.1.1.4: two bytes begin where one ends.
        let content = if lengths.content == 2 { content.saturating_add(256) } else { content };
        let window = match lengths.window {
            0 => content,
            _ => window_of(number(header, MAGIC_BYTES.saturating_add(1), 1)),
        };
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        if window > MAX_WINDOW_BYTES {
            return Err(Fault::Window(MAX_WINDOW_BYTES));
        }
        let mut decoder = FrameDecoder::new();
        decoder.init(header).map_err(|_| CORRUPT)?;
        let content = (lengths.content > 0).then_some(content);
        Ok(Self {
            decoder,
            has_checksum: descriptor & 0x04 != 0,
            content,
            gave: 0,
            window,
            kept: KeptBuffers::default(),
        })
    }

    /// How long a block with this header is, with what follows a last one. Section 3.1.1.2.
    fn block_bytes(&mut self, header: u64) -> Result<usize, Fault> {
        let (is_last, kind) = (header & 1 == 1, (header >> 1) & 3);
        let size = usize::try_from(header >> 3).unwrap_or(usize::MAX);
        if size > MAX_BLOCK_BYTES {
            return Err(CORRUPT);
        }
        let content = if kind == 1 { 1 } else { size };
        let checksum = if is_last && self.has_checksum { CHECKSUM_BYTES } else { 0 };
        let becomes = if is_compressed(header) { MAX_BLOCK_BYTES } else { size };
        self.kept.decodes(becomes, self.window.saturating_add(MAX_BLOCK_BYTES));
        Ok(BLOCK_HEADER_BYTES.saturating_add(content).saturating_add(checksum))
    }

    /// Decodes a block; whether it was the last one of a frame that is right.
    fn decode(&mut self, block: &[u8], piece: &mut Vec<u8>) -> Result<bool, Fault> {
        if is_compressed(number(block, 0, BLOCK_HEADER_BYTES)) {
            self.kept.reads(block.get(BLOCK_HEADER_BYTES..).unwrap_or_default());
        }
        let is_last = self.decoder.decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1));
        let is_last = is_last.map_err(|_| CORRUPT)?;
        piece.extend(self.decoder.collect().unwrap_or_default());
        self.gave = self.gave.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if is_last && self.has_checksum {
            let (said, found) =
                (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
            if said.is_none() || said != found {
                return Err(Fault::Malformed("its checksum is another"));
            }
        }
        if is_last && self.content.is_some_and(|content| content != self.gave) {
            return Err(Fault::Malformed("its length is another than it says"));
        }
        Ok(is_last)
    }
}

/// Whether the block with this header is a compressed one. Section 3.1.1.2.2.
fn is_compressed(header: u64) -> bool {
    (header >> 1) & 3 == 2
}

/// How many bytes the parts of a frame's header take. Section 3.1.1.1.
struct Lengths {
    window: usize,
    dictionary: usize,
    content: usize,
}

impl Lengths {
    fn of(descriptor: u8) -> Self {
        let is_single = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4].into_iter().nth(usize::from(descriptor & 3)).unwrap_or_default();
        let content = match descriptor >> 6 {
            0 => usize::from(is_single),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        Self { window: usize::from(!is_single), dictionary, content }
    }
}

/// A frame's header with the magic number before it.
fn header_bytes(descriptor: u8) -> usize {
    let Lengths { window, dictionary, content } = Lengths::of(descriptor);
    [MAGIC_BYTES, 1, window, dictionary, content].into_iter().fold(0, usize::saturating_add)
}

/// Section 3.1.1.1.2.
fn window_of(descriptor: u64) -> u64 {
    let exponent = u32::try_from(descriptor >> 3).unwrap_or(u32::MAX).saturating_add(10);
    let base = 1_u64.checked_shl(exponent).unwrap_or(u64::MAX);
    base.saturating_add((base >> 3).saturating_mul(descriptor & 7))
}

/// A number of some bytes, the lowest first.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let bytes = bytes.iter().skip(at).take(length).rev();
    bytes.fold(0, |value, byte| value.checked_shl(8).unwrap_or_default() | u64::from(*byte))
}
