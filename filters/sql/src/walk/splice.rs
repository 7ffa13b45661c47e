//! Collects the replacements of parts of the text.

use zeroize::Zeroizing;

use crate::{
    analysis::{Form, ParameterUse, Replacement, Splice},
    refusal::Refusal,
    resolve::protected::Protected,
    segment::Segment,
};

/// The replacements, each with the bytes that it takes the place of.
pub(crate) struct Splices<'a> {
    segment: &'a Segment<'a>,
    list: Vec<Splice>,
}

impl<'a> Splices<'a> {
    pub fn new(segment: &'a Segment<'a>) -> Self {
        Self { segment, list: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all replacements in the order of the text.
    pub fn into_sorted(mut self) -> Result<Vec<Splice>, Refusal> {
        Splice::sort(&mut self.list);
        if self.list.windows(2).any(|pair| matches!(pair, [a, b] if a.range.end > b.range.start)) {
            return Err(Refusal::unparsable("values overlap in the text"));
        }
        Ok(self.list)
    }

    /// Puts the sealed value in the place of tokens `first..=last`.
    pub fn seal(
        &mut self,
        at: Protected<'_>,
        use_: ParameterUse,
        tokens: (usize, usize),
        form: Form,
        value: Zeroizing<String>,
    ) {
        let with = Replacement::Seal { field: at.field.id, use_, form, value };
        self.replace(tokens, with);
    }

    /// Replaces tokens `first..=last`.
    pub fn replace(&mut self, (first, last): (usize, usize), with: Replacement) {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        if let (Some(first), Some(last)) = (range(first), range(last)) {
            let offset = self.segment.offset;
            let range = first.start.saturating_add(offset)..last.end.saturating_add(offset);
            self.list.push(Splice { range, with });
        }
    }

    /// Inserts text right before a token.
    pub fn insert_before(&mut self, index: usize, text: &str) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.start.saturating_add(self.segment.offset);
            self.list.push(Splice { range: at..at, with: Replacement::Text(text.to_owned()) });
        }
    }

    /// Inserts text right behind a token.
    pub fn insert_behind(&mut self, index: usize, text: String) {
        self.put_behind(index, Replacement::Text(text));
    }

    /// Inserts something right behind a token.
    pub fn put_behind(&mut self, index: usize, with: Replacement) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.end.saturating_add(self.segment.offset);
            self.list.push(Splice { range: at..at, with });
        }
    }
}
