//! What the host lets pass in one direction, and what it holds.

use fieldveil_engine::http::{Edit, ExchangeOutput, Flow, Head};
use serde_json::Value;

/// What has left in one direction.
#[derive(Default)]
pub struct Way {
    pub head: Option<Head>,
    pub body: Vec<u8>,
    pub has_ended: bool,
    pub has_trailers: bool,
    pub pending: Option<Head>,
    held: bool,
}

impl Way {
    pub fn text(&self) -> String {
        assert!(self.has_ended, "it has not ended");
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// All values of a header field.
    pub fn header(&self, name: &str) -> Vec<String> {
        let head = self.head.as_ref().expect("the head has not left");
        head.all(name).map(|value| String::from_utf8(value.to_vec()).unwrap()).collect()
    }

    pub fn edit(&mut self, edits: Vec<Edit>) {
        if edits.is_empty() {
            return;
        }
        let head = self.pending.as_mut().expect("the head has left, and is edited");
        for edit in edits {
            match edit {
                Edit::Add(name, value) => head.0.push((name, value)),
                Edit::Remove(name) => head.0.retain(|(known, _)| *known != name),
                Edit::Set(name, value) => {
                    match head.0.iter().position(|(known, _)| *known == name) {
                        Some(at) => head.0[at].1 = value,
                        None => head.0.push((name.clone(), value)),
                    }
                    let mut seen = false;
                    head.0.retain(|(known, _)| *known != name || !std::mem::replace(&mut seen, true));
                }
            }
        }
    }

    /// As Envoy and the host do.
    pub fn take(&mut self, output: ExchangeOutput, given: &[u8], ends: bool) {
        self.edit(output.head);
        match output.flow {
            Flow::Hold | Flow::Wait => {
                assert_eq!(output.body.as_deref(), Some(&b""[..]), "held bytes are the exchange's to keep");
                self.held = true;
            }
            Flow::Continue => {
                assert!(!self.held || output.body.is_some() || given.is_empty(), "held bytes would be lost");
                if self.head.is_none() {
                    self.head = self.pending.take();
                }
                self.body.extend(output.body.as_deref().unwrap_or(given));
                self.held = false;
                self.has_ended |= ends;
            }
        }
    }
}
