//! Syncs within the data of a COPY. The server ignores them, unless the COPY has failed before: then it answers them. Which of
//! them came behind the failure is seen by the answers alone. They are the last ones, as many as ReadyForQuery comes.

use super::{Awaited, PendingResponse, PendingResponses};

impl PendingResponses {
    /// The server asks for the data of a COPY, and may ignore the Syncs that were sent before CopyDone. Returns whether CopyDone
    /// was sent already.
    pub fn begin_copy(&mut self) -> bool {
        for entry in &mut self.entries {
            match entry.awaited {
                Awaited::CopyEnd => return true,
                Awaited::Sync => entry.awaited = Awaited::SyncInCopy,
                _ => {}
            }
        }
        false
    }

    /// The server has answered a COPY from the client, of which it has all data: CopyDone and the Syncs before it are answered,
    /// so that they are not taken for those of the next COPY of the same text.
    pub fn end_copy(&mut self) {
        let Some(end) = self.entries.iter().position(|entry| matches!(entry.awaited, Awaited::CopyEnd))
        else {
            return;
        };
        let mut index = 0_usize;
        self.entries.retain(|entry| {
            let is_over = index <= end && entry.may_have_no_answer();
            index = index.saturating_add(1);
            !is_over
        });
        self.bytes = self.entries.iter().fold(0, |bytes, entry| bytes.saturating_add(entry.bytes));
    }

    /// Removes the entry that a ReadyForQuery answers.
    pub fn pop_ready(&mut self) -> Option<PendingResponse> {
        while self.entries.front().is_some_and(|entry| matches!(entry.awaited, Awaited::CopyEnd)) {
            self.pop_front();
        }
        let entry = self.pop_front()?;
        if matches!(entry.awaited, Awaited::SyncInCopy) {
            // One of this and those that follow is answered, and it may be the last.
            let next = self.entries.iter_mut().find(|entry| !entry.may_have_no_answer());
            if let Some(next) = next.filter(|next| matches!(next.awaited, Awaited::Sync)) {
                next.awaited = Awaited::SyncInCopy;
            }
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queue behind a COPY, as letters: `S` for a Sync, `s` for one within the data, `c` for CopyDone, `X` for Close.
    fn queue(letters: &str) -> PendingResponses {
        let mut pending = PendingResponses::default();
        for letter in letters.chars() {
            pending.push(PendingResponse::client(match letter {
                'S' => Awaited::Sync,
                's' => Awaited::SyncInCopy,
                'c' => Awaited::CopyEnd,
                _ => Awaited::Close,
            }));
        }
        pending
    }

    #[test]
    fn ignored_syncs_are_left_out_when_another_answer_comes() {
        let mut pending = queue("sscX");
        assert!(!pending.is_empty());
        assert!(matches!(pending.head().unwrap().awaited, Awaited::Close));
        assert!(queue("ssc").is_empty());
    }

    #[test]
    fn as_many_syncs_are_answered_as_the_server_says() {
        for answered in 1..=3 {
            let mut pending = queue("sscSX");
            for _ in 0..answered {
                assert!(matches!(pending.pop_ready().unwrap().awaited, Awaited::SyncInCopy));
            }
            assert!(matches!(pending.head().unwrap().awaited, Awaited::Close), "{answered}");
        }
    }

    #[test]
    fn only_the_syncs_before_the_end_of_the_data_are_within_it() {
        let mut pending = queue("XSSS");
        assert!(!pending.begin_copy());
        assert_eq!(pending.entries.iter().filter(|e| e.may_have_no_answer()).count(), 3);
        let mut pending = queue("XScS");
        assert!(pending.begin_copy());
        assert!(pending.has_sync());
    }

    #[test]
    fn the_end_of_one_copy_is_not_that_of_the_next() {
        let mut pending = queue("XscX");
        pending.end_copy();
        assert_eq!(pending.entries.len(), 2);
        assert!(!pending.begin_copy());
    }

    #[test]
    fn what_an_error_skips_leaves_the_syncs_within_the_data() {
        let mut pending = queue("XsXS");
        let (skipped, sync_sent) = pending.skip_to_sync();
        assert_eq!((skipped.len(), sync_sent, pending.entries.len()), (2, true, 2));
    }
}
