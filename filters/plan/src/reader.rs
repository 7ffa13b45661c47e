//! A walk through JSON that knows where it is, so that every error can say so.

use serde_json::{Map, Value};

use crate::error::PlanError;
use crate::names::MAX_NAME_BYTES;

/// How much of a word of the plan an error quotes.
const QUOTED_CHARS: usize = 64;

/// An object of the plan with its place, empty for the top.
pub(crate) struct Reader<'a> {
    pub(crate) path: String,
    object: &'a Map<String, Value>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(path: String, value: &'a Value) -> Result<Self, PlanError> {
        match value.as_object() {
            Some(object) => Ok(Self { path, object }),
            None => {
                let path = if path.is_empty() { "result".to_owned() } else { path };
                let (reason, remedy) = ("not an object".to_owned(), "see the plan's JSON schema".to_owned());
                Err(PlanError::Invalid { path, reason, remedy })
            }
        }
    }

    fn place(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn invalid(&self, name: &str, reason: &str, remedy: &str) -> PlanError {
        PlanError::Invalid { path: self.place(name), reason: reason.to_owned(), remedy: remedy.to_owned() }
    }

    fn required(&self, name: &str) -> Result<&'a Value, PlanError> {
        self.object.get(name).ok_or_else(|| self.invalid(name, "missing", "the policy must say it"))
    }

    /// Refuses what this release does not know: it could be a restriction that would be passed over.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        match self.object.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let reason = format!("{} is not known to this release", quoted(name));
                let remedy = format!("leave it out, or upgrade the filter; known are {}", known.join(", "));
                Err(PlanError::Invalid { path: self.path.clone(), reason, remedy })
            }
        }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Reader<'a>, PlanError> {
        Reader::new(self.place(name), self.required(name)?)
    }

    pub(crate) fn array(&self, name: &str) -> Result<&'a [Value], PlanError> {
        let value = self.required(name)?;
        let array = value
            .as_array()
            .ok_or_else(|| self.invalid(name, "not an array", "see the plan's JSON schema"))?;
        Ok(array)
    }

    /// A non-empty name of at most `limit` bytes, without NUL (it separates names in associated data).
    pub(crate) fn name(&self, name: &str, limit: usize) -> Result<&'a str, PlanError> {
        let text = self.text(name, limit)?;
        if text.is_empty() {
            return Err(self.invalid(name, "empty", "the policy must say it"));
        }
        Ok(text)
    }

    /// Like [`Reader::name`], where absent is None and empty is a value.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, PlanError> {
        if self.object.contains_key(name) { self.text(name, MAX_NAME_BYTES).map(Some) } else { Ok(None) }
    }

    fn text(&self, name: &str, limit: usize) -> Result<&'a str, PlanError> {
        let text = self
            .required(name)?
            .as_str()
            .ok_or_else(|| self.invalid(name, "not a string", "see the plan's JSON schema"))?;
        if text.len() > limit {
            return Err(self.invalid(name, &format!("longer than {limit} bytes"), "shorten it"));
        }
        if text.contains('\0') {
            return Err(self.invalid(name, "holds a NUL character", "leave it out"));
        }
        Ok(text)
    }

    /// One word of a closed list.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, PlanError> {
        let said = self.name(name, MAX_NAME_BYTES)?;
        words.iter().find(|(word, _)| *word == said).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.invalid(
                name,
                &format!("{} is not known", quoted(said)),
                &format!("use one of {}", known.join(", ")),
            )
        })
    }

    /// Whole seconds from 1 to `limit`.
    pub(crate) fn seconds(&self, name: &str, limit: u32, default: u32) -> Result<u32, PlanError> {
        let Some(value) = self.object.get(name) else { return Ok(default) };
        value
            .as_u64()
            .and_then(|seconds| u32::try_from(seconds).ok())
            .filter(|seconds| (1..=limit).contains(seconds))
            .ok_or_else(|| {
                self.invalid(name, "out of range", &format!("use whole seconds from 1 to {limit}"))
            })
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(QUOTED_CHARS).collect::<String>())
}
