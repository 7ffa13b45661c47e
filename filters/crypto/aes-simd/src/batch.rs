//! Many short messages at a time: one alone leaves most of the vectors' lanes empty.

use aes_gcm::aead::consts::{U12, U16};
use aes_gcm::aead::{AeadInOut, Error};

/// A message that is sealed or opened in place with AES-GCM.
pub struct Message<'m> {
    pub(crate) nonce: [u8; 12],
    pub(crate) associated_data: &'m [u8],
    pub(crate) text: &'m mut [u8],
    pub(crate) tag: [u8; 16],
    pub(crate) is_done: bool,
}

impl<'m> Message<'m> {
    /// A message to be opened, with its nonce and tag; `text` holds what is sealed.
    pub fn new(nonce: [u8; 12], associated_data: &'m [u8], text: &'m mut [u8], tag: [u8; 16]) -> Self {
        Self { nonce, associated_data, text, tag, is_done: false }
    }

    /// A message to be sealed with this nonce.
    pub fn to_be_sealed(nonce: [u8; 12], associated_data: &'m [u8], text: &'m mut [u8]) -> Self {
        Self::new(nonce, associated_data, text, [0; 16])
    }

    /// Whether a message to be opened was authentic, so that its text is what was sealed, and otherwise stays as it was;
    /// or whether a message to be sealed is, so that its text is the ciphertext.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The tag of a message that was sealed.
    pub fn tag(&self) -> &[u8; 16] {
        &self.tag
    }

    /// By itself.
    pub(crate) fn open_alone(&mut self, cipher: &impl AeadInOut<NonceSize = U12, TagSize = U16>) {
        let (nonce, tag) = (self.nonce.into(), self.tag.into());
        let opened: Result<(), Error> =
            cipher.decrypt_inout_detached(&nonce, self.associated_data, (&mut *self.text).into(), &tag);
        self.is_done = opened.is_ok();
    }

    /// By itself.
    pub(crate) fn seal_alone(&mut self, cipher: &impl AeadInOut<NonceSize = U12, TagSize = U16>) {
        let text = (&mut *self.text).into();
        let sealed = cipher.encrypt_inout_detached(&self.nonce.into(), self.associated_data, text);
        self.is_done = sealed.is_ok();
        self.tag = sealed.map_or([0; 16], |tag| tag.0);
    }
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self::new([0; 12], &[], &mut [], [0; 16])
    }
}

/// Sealing or opening many messages at a time under one key, each by itself: what one is has no part in another's outcome.
/// Quickest where messages that follow each other share the slice of their associated data.
pub trait AeadBatch {
    /// Seals each message.
    fn seal_batch(&self, messages: &mut [Message<'_>]);

    /// Opens each message that is authentic.
    fn open_batch(&self, messages: &mut [Message<'_>]);
}

macro_rules! one_by_one {
    ($($cipher:ty),+) => { $(
        /// One by one: the processor's own instructions leave no lane empty.
        impl AeadBatch for $cipher {
            fn seal_batch(&self, messages: &mut [Message<'_>]) {
                messages.iter_mut().for_each(|message| message.seal_alone(self));
            }

            fn open_batch(&self, messages: &mut [Message<'_>]) {
                messages.iter_mut().for_each(|message| message.open_alone(self));
            }
        }
    )+ };
}

one_by_one!(aes_gcm::Aes128Gcm, aes_gcm::Aes256Gcm);
