//! Ciphers that are made of keys of a keyset and kept with it: gone when the keyset is.

use std::sync::{Arc, Mutex};

use fieldveil_ff1::{Alphabet, Ff1};

use crate::key_memory::in_key_memory;
use crate::locks::try_lock;

/// Of one keyset; each takes a kilobyte. A further one takes the place of all: labels come and go with plans.
const MAX_CIPHERS: usize = 64;

/// The values that one cipher is for: their label, tenant and alphabet.
pub type CipherScope<'p> = (&'p str, &'p str, Alphabet);

struct KeptCipher {
    label: Box<str>,
    tenant: Box<str>,
    cipher: Arc<Ff1>,
}

/// The ciphers of one keyset.
#[derive(Default)]
pub struct KeptCiphers(Mutex<Vec<KeptCipher>>);

impl KeptCiphers {
    /// The cipher for this, made by `make` if it is not there.
    pub fn of<E>(
        &self,
        (label, tenant, alphabet): CipherScope<'_>,
        make: impl FnOnce() -> Result<Ff1, E>,
    ) -> Result<Arc<Ff1>, E> {
        let make = || in_key_memory(|| make().map(Arc::new));
        // A thread that finds another at it makes a cipher of its own, so that none waits.
        let Some(mut kept) = try_lock(&self.0) else { return make() };
        let is_it = |kept: &&KeptCipher| {
            *kept.label == *label && *kept.tenant == *tenant && kept.cipher.alphabet() == alphabet
        };
        if let Some(known) = kept.iter().find(is_it) {
            return Ok(Arc::clone(&known.cipher));
        }
        let cipher = make()?;
        if kept.len() >= MAX_CIPHERS {
            kept.clear();
        }
        kept.push(KeptCipher { label: label.into(), tenant: tenant.into(), cipher: Arc::clone(&cipher) });
        Ok(cipher)
    }
}

#[cfg(test)]
mod tests {
    use fieldveil_ff1::KEY_LEN;

    use super::*;

    fn make() -> Result<Ff1, ()> {
        Ff1::new(&[7; KEY_LEN], Alphabet::Digits).map_err(drop)
    }

    #[test]
    fn cipher_is_made_once_for_label_tenant_and_alphabet() {
        let kept = KeptCiphers::default();
        let first = kept.of(("phone", "acme", Alphabet::Digits), make).unwrap();
        let again = kept.of(("phone", "acme", Alphabet::Digits), || Err(())).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        for other in [("fax", "acme"), ("phone", "globex")] {
            assert!(!Arc::ptr_eq(&first, &kept.of((other.0, other.1, Alphabet::Digits), make).unwrap()));
        }
    }

    #[test]
    fn no_more_are_kept_than_the_limit() {
        let kept = KeptCiphers::default();
        for number in 0..=MAX_CIPHERS {
            kept.of((&number.to_string(), "", Alphabet::Digits), make).unwrap();
            assert!(kept.0.lock().unwrap().len() <= MAX_CIPHERS);
        }
    }
}
