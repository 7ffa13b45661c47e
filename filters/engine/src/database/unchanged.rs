//! The bytes of a callback that pass unchanged. As long as the callback does nothing else they are only counted, so that
//! Envoy's buffer stays as it is and nothing is copied.

use super::inbox::Joined;

/// How far the bytes of a callback have passed unchanged.
pub struct Unchanged {
    /// How many bytes, counted from the first; None as soon as anything else was written or dropped.
    begin: Option<usize>,
    /// How many bytes the callback has.
    length: usize,
}

impl Unchanged {
    /// Begins a callback.
    pub fn of(joined: &Joined<'_>) -> Self {
        match joined {
            Joined::Fresh(bytes) => Self { begin: Some(0), length: bytes.len() },
            // What was held before is not in Envoy's buffer any more.
            Joined::Held(..) => Self { begin: None, length: joined.from(0).len() },
        }
    }

    /// Lets the next bytes, which begin at `position`, pass unchanged.
    pub fn pass(&mut self, bytes: &[u8], position: usize, out: &mut Vec<u8>) {
        match &mut self.begin {
            Some(begin) if *begin == position && out.is_empty() => *begin = begin.saturating_add(bytes.len()),
            _ => out.extend_from_slice(bytes),
        }
    }

    /// Ends a step that read up to `position`. If it wrote anything or took bytes away, the bytes that were only counted so far
    /// are written before that.
    pub fn settle(&mut self, joined: &Joined<'_>, position: usize, out: &mut Vec<u8>) {
        let Some(begin) = self.begin.filter(|begin| *begin != position || !out.is_empty()) else { return };
        self.begin = None;
        if begin > 0 {
            let counted = joined.from(0).get(..begin).unwrap_or_default();
            out.splice(..0, counted.iter().copied());
        }
    }

    /// Applies a step that is done with `taken` bytes from `position` on, which may pass unchanged. Returns where it ended.
    pub fn step(
        &mut self,
        (taken, passes): (usize, bool),
        joined: &Joined<'_>,
        position: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        // So it is with most steps.
        if (passes || taken == 0) && self.begin == Some(position) && out.is_empty() {
            let position = position.saturating_add(taken).min(self.length);
            self.begin = Some(position);
            return position;
        }
        // What it wrote stands before what passes.
        self.settle(joined, position, out);
        if passes {
            let bytes = joined.from(position);
            self.pass(bytes.get(..taken).unwrap_or(bytes), position, out);
        }
        let position = position.saturating_add(taken);
        self.settle(joined, position, out);
        position
    }

    /// Ends the callback, and returns how many of its bytes passed if nothing else was written, else 0.
    pub fn finish(self) -> usize {
        self.begin.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: &[u8] = b"abcdef";

    /// The output of steps that each write something first.
    fn run(joined: &Joined<'_>, steps: &[(&[u8], (usize, bool))]) -> (usize, Vec<u8>) {
        let (mut unchanged, mut out, mut position) = (Unchanged::of(joined), Vec::new(), 0);
        for (written, step) in steps {
            out.extend_from_slice(written);
            position = unchanged.step(*step, joined, position, &mut out);
        }
        (unchanged.finish(), out)
    }

    #[test]
    fn bytes_that_pass_are_counted_and_not_copied() {
        let joined = Joined::Fresh(BYTES);
        let whole = [(&b""[..], (2, true)), (b"", (0, false)), (b"", (4, true)), (b"", (0, false))];
        assert_eq!(run(&joined, &whole), (6, Vec::new()));
        assert_eq!(run(&joined, &[(b"", (2, true)), (b"", (0, false))]), (2, Vec::new()));
        assert_eq!(run(&joined, &[]), (0, Vec::new()));
    }

    #[test]
    fn what_is_written_stands_behind_what_passed_before() {
        let joined = Joined::Fresh(BYTES);
        let steps = [(&b""[..], (2, true)), (b"XYZ", (2, false)), (b"", (2, true))];
        assert_eq!(run(&joined, &steps), (0, b"abXYZef".to_vec()));
        let steps = [(&b""[..], (2, true)), (b"X", (4, true))];
        assert_eq!(run(&joined, &steps), (0, b"abXcdef".to_vec()));
        assert_eq!(run(&joined, &[(b"X", (6, true))]), (0, b"Xabcdef".to_vec()));
        assert_eq!(run(&joined, &[(b"", (6, true)), (b"X", (0, false))]), (0, b"abcdefX".to_vec()));
    }

    #[test]
    fn bytes_that_are_dropped_do_not_go_on() {
        let joined = Joined::Fresh(BYTES);
        let steps = [(&b""[..], (2, true)), (b"", (2, false)), (b"", (2, true))];
        assert_eq!(run(&joined, &steps), (0, b"abef".to_vec()));
        assert_eq!(run(&joined, &[(b"", (2, false))]), (0, Vec::new()));
    }

    #[test]
    fn bytes_that_were_held_are_copied() {
        assert_eq!(run(&Joined::Held(BYTES.to_vec(), 0), &[(b"", (6, true))]), (0, BYTES.to_vec()));
    }
}
