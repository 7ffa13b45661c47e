//! What a worker holds of the key agent's keysets, and when it asks again.

use std::sync::Arc;

use crate::fetch::{FetchResponse, KeysQuestion, RETRY_MS, Tenants};
use crate::keyring::Keyring;

/// Said where the agent was to say who runs here, and did not.
const NO_SPIFFE_ID: &str =
    "it says no SPIFFE id; start it with --spiffe-socket, and register the pod with SPIRE";

/// What the key agent answered.
pub enum KeysAnswer {
    /// Keysets, and the validator that tells them from others.
    Keyring {
        /// The keysets.
        keyring: Arc<Keyring>,
        /// Their `ETag`.
        etag: Option<String>,
    },
    /// Those that are held are the latest.
    NotModified,
}

impl KeysAnswer {
    /// Reads an answer; what is the same in `former` is taken from there. The error says why it is of no use.
    pub fn read(answer: FetchResponse<'_>, former: Option<&Keyring>) -> Result<Self, String> {
        match answer {
            FetchResponse::Failed(reason) => Err(reason),
            FetchResponse::NotModified => Ok(Self::NotModified),
            FetchResponse::Body { body, etag } => {
                let keyring = Keyring::from_json(body, former).map_err(|e| e.to_string())?;
                Ok(Self::Keyring { keyring: Arc::new(keyring), etag })
            }
        }
    }
}

#[derive(Default)]
pub struct HeldKeys {
    /// The agent is to say the SPIFFE id as well: without, its answer is of no use.
    needs_spiffe_id: bool,
    held: Option<HeldKeyring>,
    /// How many questions were asked. A question's number is this count, itself included.
    asked: u64,
    tried_ms: u64,
    /// When the worker first looked whether it has keysets.
    since_ms: Option<u64>,
}

struct HeldKeyring {
    keyring: Arc<Keyring>,
    etag: Option<String>,
    /// The question that it answers.
    question: u64,
    tenants: Arc<Tenants>,
    confirmed_ms: u64,
}

impl HeldKeys {
    /// None yet.
    pub fn new(needs_spiffe_id: bool) -> Self {
        Self { needs_spiffe_id, ..Self::default() }
    }

    /// The keyring, however old.
    pub fn latest(&self) -> Option<&Arc<Keyring>> {
        self.held.as_ref().map(|held| &held.keyring)
    }

    /// Milliseconds since the agent last confirmed the keysets, or since there was first a need for them.
    pub fn age_ms(&self, now_ms: u64) -> u64 {
        let since = self.held.as_ref().map(|held| held.confirmed_ms).or(self.since_ms);
        since.map_or(0, |since| now_ms.saturating_sub(since))
    }

    /// Whether the agent is to be asked now: what is held is old, or lacks a tenant that it was not asked for.
    pub fn is_due(&mut self, wanted: &Tenants, refresh_ms: u64, now_ms: u64) -> bool {
        self.since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(self.tried_ms) < RETRY_MS.min(refresh_ms) {
            return false;
        }
        match &self.held {
            None => true,
            Some(held) => self.age_ms(now_ms) >= refresh_ms || !wanted.is_subset(&held.tenants),
        }
    }

    /// The question for the keysets that are for all and for these. An ETag speaks of the whole answer, so it is told
    /// only where the same tenants are asked for.
    pub fn question(&mut self, wanted: Tenants, now_ms: u64) -> KeysQuestion {
        self.tried_ms = now_ms;
        self.asked = self.asked.saturating_add(1);
        let same = self.held.as_ref().filter(|held| *held.tenants == wanted);
        let tenants = same.map_or_else(|| Arc::new(wanted), |held| Arc::clone(&held.tenants));
        KeysQuestion { etag: same.and_then(|held| held.etag.clone()), tenants, number: self.asked }
    }

    /// Takes in an answer, unless that of a later question is there. The error says why it could not be used; what was
    /// held before is still held.
    pub fn take(&mut self, question: &KeysQuestion, answer: KeysAnswer, now_ms: u64) -> Result<(), String> {
        if self.held.as_ref().is_some_and(|held| held.question > question.number) {
            return Ok(());
        }
        match answer {
            KeysAnswer::Keyring { keyring, etag } => {
                if self.needs_spiffe_id && keyring.spiffe_id.is_empty() {
                    return Err(NO_SPIFFE_ID.to_owned());
                }
                let tenants = Arc::clone(&question.tenants);
                // What the former one held and this one does not is erased here.
                self.held = Some(HeldKeyring {
                    keyring,
                    etag,
                    question: question.number,
                    tenants,
                    confirmed_ms: now_ms,
                });
                Ok(())
            }
            KeysAnswer::NotModified => match &mut self.held {
                Some(held) if question.etag.is_some() => {
                    held.question = question.number;
                    held.confirmed_ms = now_ms;
                    Ok(())
                }
                _ => Err("the key agent answered 304 to a question without an ETag".into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Tenants {
        names.iter().map(|name| Arc::from(*name)).collect()
    }

    fn body(revision: &str) -> String {
        format!(r#"{{"revision": "{revision}", "keysets": {{}}}}"#)
    }

    fn give(keys: &mut HeldKeys, question: &KeysQuestion, revision: &str, now_ms: u64) {
        let body = body(revision);
        let answer = FetchResponse::Body { body: body.as_bytes(), etag: Some(revision.to_owned()) };
        let former = keys.latest().cloned();
        let answer = KeysAnswer::read(answer, former.as_deref()).unwrap();
        keys.take(question, answer, now_ms).unwrap();
    }

    #[test]
    fn etag_is_told_only_where_the_same_tenants_are_asked_for() {
        let mut keys = HeldKeys::default();
        let first = keys.question(names(&["pii/acme"]), 1000);
        assert_eq!(first.etag, None);
        give(&mut keys, &first, "a", 1000);
        assert_eq!(keys.question(names(&["pii/acme"]), 2000).etag.as_deref(), Some("a"));
        for others in [&["pii/acme", "pii/globex"][..], &["pii/globex"], &[]] {
            assert_eq!(keys.question(names(others), 2000).etag, None, "{others:?}");
        }
    }

    #[test]
    fn answer_to_an_earlier_question_does_not_replace_that_to_a_later_one() {
        let mut keys = HeldKeys::default();
        let zeroth = keys.question(names(&[]), 0);
        give(&mut keys, &zeroth, "z", 0);
        let earlier = keys.question(names(&[]), 1000);
        let later = keys.question(names(&["pii/acme"]), 1001);
        give(&mut keys, &later, "later", 1500);
        give(&mut keys, &earlier, "earlier", 1600);
        keys.take(&earlier, KeysAnswer::NotModified, 9000).unwrap();
        assert_eq!(keys.latest().unwrap().revision, "later");
        assert_eq!(keys.age_ms(2500), 1000);
    }

    #[test]
    fn tenant_that_was_not_asked_for_makes_a_question_due_and_one_that_was_left_out_does_not() {
        let mut keys = HeldKeys::default();
        assert!(keys.is_due(&names(&[]), 5000, 10_000));
        let first = keys.question(names(&["pii/acme"]), 10_000);
        assert!(!keys.is_due(&names(&[]), 5000, 10_500), "it was just tried");
        give(&mut keys, &first, "a", 10_500);
        assert!(!keys.is_due(&names(&["pii/acme"]), 5000, 12_000));
        assert!(keys.is_due(&names(&["pii/globex"]), 5000, 12_000));
        assert!(keys.is_due(&names(&[]), 5000, 15_500));
    }

    #[test]
    fn answer_of_no_change_to_a_question_without_an_etag_is_an_error() {
        let mut keys = HeldKeys::default();
        let question = keys.question(names(&[]), 0);
        assert!(keys.take(&question, KeysAnswer::NotModified, 0).is_err());
        give(&mut keys, &question, "a", 0);
        let other = keys.question(names(&["pii/acme"]), 0);
        assert!(keys.take(&other, KeysAnswer::NotModified, 0).is_err());
    }

    #[test]
    fn age_counts_from_the_first_need_while_nothing_is_held() {
        let mut keys = HeldKeys::default();
        assert_eq!(keys.age_ms(5000), 0);
        assert!(keys.is_due(&names(&[]), 5000, 5000));
        assert_eq!(keys.age_ms(8000), 3000);
    }
}
