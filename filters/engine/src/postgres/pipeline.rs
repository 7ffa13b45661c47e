//! The client's pipeline: the messages of the extended protocol between two Syncs.

/// Where the client is in its pipeline.
#[derive(Default)]
pub struct Pipeline {
    syncs: u64,
    is_open: bool,
    is_skipped: bool,
}

impl Pipeline {
    /// The number of the pipeline: how many Syncs were sent before it. The server executes all of a pipeline, or nothing of it
    /// from its first error on.
    pub fn number(&self) -> u64 {
        self.syncs
    }

    /// Whether messages of the extended protocol were sent that no Sync has followed yet. A Query behind them is not their end: if
    /// one of them fails, the server skips it too.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether the client's messages are dropped up to its next Sync, because an error was sent or will be.
    pub fn is_skipped(&self) -> bool {
        self.is_skipped
    }

    /// A message of the extended protocol is sent.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// An error is the answer to what the client has sent of this pipeline: the server would drop the rest of it.
    pub fn skip(&mut self) {
        self.is_skipped = true;
    }

    /// The server answers a Sync that was sent before the error: it reads on.
    pub fn resume(&mut self) {
        self.is_skipped = false;
    }

    /// The server has answered all that it was sent, so that nothing is left for a Sync to end.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// A Sync is sent.
    pub fn sync(&mut self) {
        *self = Self { syncs: self.syncs.saturating_add(1), is_open: false, is_skipped: false };
    }
}

#[cfg(test)]
mod tests {
    use super::Pipeline;

    #[test]
    fn only_a_sync_ends_the_skipping_of_a_pipeline() {
        let mut pipeline = Pipeline::default();
        pipeline.open();
        pipeline.skip();
        pipeline.close();
        assert!(!pipeline.is_open() && pipeline.is_skipped());
        assert_eq!(pipeline.number(), 0);
        pipeline.sync();
        assert!(!pipeline.is_open() && !pipeline.is_skipped());
        assert_eq!(pipeline.number(), 1);
    }
}
