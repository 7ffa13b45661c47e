//! brotli, RFC 7932: one stream. Its windows are up to 16 MiB; larger ones are no part of the RFC and are malformed.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::counted::Counter;
use super::{Decode, Fault};

/// Decoded bytes that are given out at a time.
const PIECE_BYTES: usize = 32 << 10;

type State = BrotliState<Counter, Counter, Counter>;

pub(super) struct Brotli {
    state: Box<State>,
    /// What the state has allocated: the window, and up to 768 tables of codes, which a few bytes ask for.
    counter: Counter,
    is_whole: bool,
    piece: Vec<u8>,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let counter = Counter::default();
        let state = BrotliState::new_strict(counter.clone(), counter.clone(), counter.clone());
        Self { state: Box::new(state), counter, is_whole: false, piece: vec![0; PIECE_BYTES] }
    }
}

impl Decode for Brotli {
    fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, Fault> {
        if self.is_whole {
            return if input.is_empty() { Ok(None) } else { Err(Fault::Malformed("bytes follow its end")) };
        }
        let (mut left, mut taken) = (input.len(), 0);
        let (mut room, mut given, mut total) = (self.piece.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut taken,
            input,
            &mut room,
            &mut given,
            &mut self.piece,
            &mut total,
            &mut self.state,
        );
        *input = input.get(taken..).unwrap_or_default();
        match result {
            BrotliResult::ResultFailure => return Err(Fault::Malformed("it is not brotli")),
            BrotliResult::ResultSuccess => self.is_whole = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        if given == 0 && self.is_whole && !input.is_empty() {
            return Err(Fault::Malformed("bytes follow its end"));
        }
        Ok(self.piece.get(..given).filter(|piece| !piece.is_empty()))
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn held(&self) -> usize {
        self.counter.bytes().saturating_add(size_of::<State>()).saturating_add(self.piece.len())
    }
}
