//! Many values sealed or opened in one call: those that follow each other under one key go to its cipher together.

use std::ops::Range;

use zeroize::Zeroize;

use crate::buffer::reserve_wiping;
use crate::error::CryptError;
use crate::primitives::Keys;

/// Plaintexts that are sealed together by one key. Each ciphertext stands behind `header`, which includes the key's prefix.
#[derive(Clone, Copy)]
pub(crate) struct ToSeal<'v> {
    pub(crate) plaintexts: &'v [&'v [u8]],
    pub(crate) associated_data: &'v [u8],
    pub(crate) header: &'v [u8],
}

impl ToSeal<'_> {
    /// The bytes of all, where each plaintext grows by so many.
    pub(crate) fn sealed_len(&self, overhead: usize) -> usize {
        let one = |text: &&[u8]| self.header.len().saturating_add(overhead).saturating_add(text.len());
        self.plaintexts.iter().map(one).fold(0, usize::saturating_add)
    }
}

/// Seals values by `seal`, which is given up to [`RUN`] of them, and appends to both buffers. If one fails, nothing is appended.
pub(crate) fn in_runs<'v>(
    plaintexts: impl IntoIterator<Item = &'v [u8]>,
    out: &mut Vec<u8>,
    sealed: &mut Vec<Range<usize>>,
    mut seal: impl FnMut(&[&[u8]], &mut Vec<u8>, &mut Vec<Range<usize>>) -> Result<(), CryptError>,
) -> Result<(), CryptError> {
    let (start, first) = (out.len(), sealed.len());
    let mut plaintexts = plaintexts.into_iter();
    loop {
        let (mut run, mut filled) = ([&[][..]; RUN], 0_usize);
        for (place, plaintext) in run.iter_mut().zip(&mut plaintexts) {
            *place = plaintext;
            filled = filled.saturating_add(1);
        }
        if filled == 0 {
            return Ok(());
        }
        seal(run.get(..filled).unwrap_or_default(), out, sealed).inspect_err(|_| {
            out.get_mut(start..).unwrap_or_default().zeroize();
            out.truncate(start);
            sealed.truncate(first);
        })?;
    }
}

/// A ciphertext, and what was bound to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sealed<'v> {
    /// As it was sealed, with its prefix.
    pub ciphertext: &'v [u8],
    /// The associated data.
    pub associated_data: &'v [u8],
}

/// Where in the buffer a value's plaintext is.
pub type Opened = Result<Range<usize>, CryptError>;

/// Values that are sealed or opened together.
pub(crate) const RUN: usize = 16;

/// Opens values by `open`, which is given up to [`RUN`] of one key, without their prefixes, and appends to both buffers:
/// an outcome for each. There is room for as many bytes as they have.
pub(crate) fn by_key<'v, T>(
    keys: &Keys<T>,
    values: impl IntoIterator<Item = Sealed<'v>>,
    out: &mut Vec<u8>,
    opened: &mut Vec<Opened>,
    open: impl Fn(&T, &[Sealed<'_>], &mut Vec<u8>, &mut Vec<Opened>),
) {
    let (mut run, mut filled, mut of) = ([Sealed::default(); RUN], 0_usize, None::<&T>);
    let mut finish = |of: Option<&T>, run: &[Sealed<'v>], error: Option<CryptError>| {
        if let Some(key) = of.filter(|_| !run.is_empty()) {
            reserve_wiping(
                out,
                run.iter().map(|sealed| sealed.ciphertext.len()).fold(0, usize::saturating_add),
            );
            open(key, run, out, opened);
        }
        opened.extend(error.map(Err));
    };
    // `for_each` lets a `flat_map` over several columns run its inner loop; `for` would enter it anew for each value.
    values.into_iter().for_each(|value| {
        let found = keys.of(value.ciphertext);
        let same = matches!((&found, of), (Ok((key, _)), Some(of)) if std::ptr::eq(*key, of));
        if !same || filled == RUN {
            finish(of, run.get(..filled).unwrap_or_default(), found.as_ref().err().copied());
            filled = 0;
        }
        of = found.as_ref().ok().map(|(key, _)| *key);
        if let (Ok((_, ciphertext)), Some(place)) = (found, run.get_mut(filled)) {
            *place = Sealed { ciphertext, ..value };
            filled = filled.saturating_add(1);
        }
    });
    finish(of, run.get(..filled).unwrap_or_default(), None);
}

/// Appends the bodies of a run, which are opened there next; None is one that is malformed.
pub(crate) fn append_bodies<'v>(
    bodies: impl Iterator<Item = Option<&'v [u8]>>,
    out: &mut Vec<u8>,
    opened: &mut Vec<Opened>,
) {
    for body in bodies {
        let start = out.len();
        opened.push(body.ok_or(CryptError::Malformed).map(|body| {
            out.extend_from_slice(body);
            start..out.len()
        }));
    }
}

/// Takes back the outcomes of those that turned out not to be authentic.
pub(crate) fn judge(opened: &mut [Opened], authentic: impl Iterator<Item = bool>) {
    for (opened, authentic) in opened.iter_mut().zip(authentic) {
        if opened.is_ok() && !authentic {
            *opened = Err(CryptError::NotAuthentic);
        }
    }
}

/// The next so many bytes of a buffer, which is then without them.
pub(crate) fn take<'b>(rest: &mut &'b mut [u8], len: usize) -> &'b mut [u8] {
    let all = std::mem::take(rest);
    let (head, tail) = all.split_at_mut(len.min(all.len()));
    *rest = tail;
    head
}
