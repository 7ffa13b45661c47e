//! Many short messages at a time: one alone leaves most of the vectors' lanes empty.

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, Error};

/// A message sealed with AES-GCM, opened in place.
pub struct Message<'m> {
    pub(crate) nonce: [u8; 12],
    pub(crate) associated_data: &'m [u8],
    pub(crate) text: &'m mut [u8],
    pub(crate) tag: [u8; 16],
    pub(crate) is_open: bool,
}

impl<'m> Message<'m> {
    /// With its nonce and tag; `text` holds what is sealed.
    pub fn new(nonce: [u8; 12], associated_data: &'m [u8], text: &'m mut [u8], tag: [u8; 16]) -> Self {
        Self { nonce, associated_data, text, tag, is_open: false }
    }

    /// Whether it was authentic and its text is what was sealed; else the text stays as it was.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// By itself.
    pub(crate) fn open_alone(&mut self, cipher: &impl AeadInOut<NonceSize = U12, TagSize = U16>) {
        let (nonce, tag) = (self.nonce.into(), self.tag.into());
        let opened: Result<(), Error> =
            cipher.decrypt_inout_detached(&nonce, self.associated_data, (&mut *self.text).into(), &tag);
        self.is_open = opened.is_ok();
    }
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self::new([0; 12], &[], &mut [], [0; 16])
    }
}

/// Opening many messages at a time under one key, each by itself: what one is has no part in another's outcome.
pub trait OpenBatch {
    /// Opens each message that is authentic. Quickest where messages that follow each other share the slice of their
    /// associated data.
    fn open_batch(&self, messages: &mut [Message<'_>]);
}

macro_rules! one_by_one {
    ($($cipher:ty),+) => { $(
        /// One by one: the processor's own instructions leave no lane empty.
        impl OpenBatch for $cipher {
            fn open_batch(&self, messages: &mut [Message<'_>]) {
                messages.iter_mut().for_each(|message| message.open_alone(self));
            }
        }
    )+ };
}

one_by_one!(aes_gcm::Aes128Gcm, aes_gcm::Aes256Gcm);
