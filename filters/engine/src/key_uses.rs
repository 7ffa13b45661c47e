//! How often each key has sealed: counted for Envoy's statistics, and held against what a key is good for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Keys that one worker gives a counter of their own. Envoy keeps a statistic for the life of its process, and tenants
/// come and go; the uses of the others are counted together.
const MAX_COUNTED: usize = 1000;

/// What a keyset is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyPurpose {
    /// AEAD.
    Aead,
    /// Deterministic AEAD.
    Deterministic,
    /// PRF.
    Prf,
}

impl KeyPurpose {
    /// Its name in statistics and in the agent's answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aead => "aead",
            Self::Deterministic => "deterministic",
            Self::Prf => "prf",
        }
    }
}

/// A key that has sealed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyUse {
    /// The keyset's name.
    pub keyset: Arc<str>,
    /// The keyset's purpose.
    pub purpose: KeyPurpose,
    /// The key's id.
    pub id: u32,
    /// Whether each use draws a random nonce of 96 bits: by 2^32 uses two of them may be alike, and with AES-GCM that
    /// gives the values and the key's authentication away.
    pub has_short_random_nonces: bool,
}

impl KeyUse {
    fn statistic(&self, what: &str) -> String {
        format!("{what}.{}.{}.{}", self.keyset, self.purpose.name(), self.id)
    }
}

/// What is to be added to a statistic.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    /// The statistic's name.
    pub statistic: String,
    /// How much.
    pub count: u64,
    /// The key whose total is to be told to [`KeyUses::reached`].
    pub watched: Option<KeyUse>,
}

/// The uses of one worker's keys.
#[derive(Default)]
pub struct KeyUses {
    pending: BTreeMap<KeyUse, u64>,
    counted: BTreeSet<KeyUse>,
    warned: BTreeSet<KeyUse>,
}

impl KeyUses {
    /// Counts so many uses.
    pub fn count(&mut self, key: KeyUse, uses: u64) {
        let count = self.pending.entry(key).or_default();
        *count = count.saturating_add(uses);
    }

    /// Hands over what was counted since the last time.
    pub fn take(&mut self) -> Vec<Added> {
        let mut added = Vec::with_capacity(self.pending.len());
        for (key, count) in std::mem::take(&mut self.pending) {
            if self.counted.len() >= MAX_COUNTED && !self.counted.contains(&key) {
                let statistic = format!("key_uses_of_others.{}", key.purpose.name());
                added.push(Added { statistic, count, watched: None });
                continue;
            }
            self.counted.insert(key.clone());
            let statistic = key.statistic("key_uses");
            added.push(Added { statistic, count, watched: key.has_short_random_nonces.then_some(key) });
        }
        added
    }

    /// A key's counter stands at `total`. The first time that this is `limit` or more: a statistic to count up, and a
    /// line for the log.
    pub fn reached(&mut self, key: &KeyUse, total: u64, limit: u64) -> Option<(String, String)> {
        if total < limit || !self.warned.insert(key.clone()) {
            return None;
        }
        let line = format!(
            "key {} of keyset {} (aead) has sealed {total} values in this sidecar; \
             its random nonces are good for 2^32 in all sidecars together: rotate it",
            key.id, key.keyset
        );
        Some((key.statistic("key_used_up"), line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(keyset: &str, id: u32) -> KeyUse {
        KeyUse { keyset: Arc::from(keyset), purpose: KeyPurpose::Aead, id, has_short_random_nonces: true }
    }

    #[test]
    fn uses_are_counted_by_keyset_purpose_and_key() {
        let mut uses = KeyUses::default();
        let siv =
            KeyUse { purpose: KeyPurpose::Deterministic, has_short_random_nonces: false, ..key("pii", 7) };
        for used in [key("pii", 7), key("pii/acme", 8), key("pii", 7), siv] {
            uses.count(used, 1);
        }
        let taken: Vec<_> =
            uses.take().into_iter().map(|a| (a.statistic, a.count, a.watched.is_some())).collect();
        let expected = [
            ("key_uses.pii.aead.7", 2, true),
            ("key_uses.pii.deterministic.7", 1, false),
            ("key_uses.pii/acme.aead.8", 1, true),
        ];
        assert_eq!(taken, expected.map(|(name, count, watched)| (name.to_owned(), count, watched)));
        assert_eq!(uses.take(), []);
    }

    #[test]
    fn keys_past_the_limit_are_counted_together() {
        let mut uses = KeyUses::default();
        for id in 0..u32::try_from(MAX_COUNTED).unwrap() + 2 {
            uses.count(key("pii", id), 1);
        }
        let taken = uses.take();
        let others = taken.iter().filter(|added| added.statistic == "key_uses_of_others.aead");
        assert_eq!(others.count(), 2);
        uses.count(key("pii", 0), 1);
        assert_eq!(uses.take().first().unwrap().statistic, "key_uses.pii.aead.0");
    }

    #[test]
    fn key_that_is_used_up_is_told_once() {
        let mut uses = KeyUses::default();
        assert_eq!(uses.reached(&key("pii", 7), 9, 10), None);
        let (statistic, line) = uses.reached(&key("pii", 7), 10, 10).unwrap();
        assert_eq!(statistic, "key_used_up.pii.aead.7");
        assert!(line.starts_with("key 7 of keyset pii (aead) has sealed 10 values"), "{line}");
        assert_eq!(uses.reached(&key("pii", 7), 11, 10), None);
        assert!(uses.reached(&key("pii", 8), 11, 10).is_some());
    }
}
