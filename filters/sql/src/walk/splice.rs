//! What is put in the place of parts of the text.

use zeroize::Zeroizing;

use crate::{
    analysis::{Form, ParameterUse, Replacement, Splice},
    resolve::protected::Protected,
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Puts the sealed value in the place of tokens `first..=last`.
    pub fn seal(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        tokens: (usize, usize),
        form: Form,
        value: Zeroizing<String>,
    ) {
        let with = Replacement::Seal { field: at.field.id, use_, form, value };
        self.splice(tokens, with);
    }

    /// Replaces tokens `first..=last`.
    pub fn splice(&mut self, (first, last): (usize, usize), with: Replacement) {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        if let (Some(first), Some(last)) = (range(first), range(last)) {
            let offset = self.segment.offset;
            let range = first.start.saturating_add(offset)..last.end.saturating_add(offset);
            self.splices.push(Splice { range, with });
        }
    }

    /// Inserts text right before a token.
    pub fn insert_before(&mut self, index: usize, text: &str) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.start.saturating_add(self.segment.offset);
            self.splices.push(Splice { range: at..at, with: Replacement::Text(text.to_owned()) });
        }
    }

    /// Inserts text right behind a token.
    pub fn insert_behind(&mut self, index: usize, text: String) {
        self.splice_behind(index, Replacement::Text(text));
    }

    /// Inserts something right behind a token.
    pub fn splice_behind(&mut self, index: usize, with: Replacement) {
        if let Some(token) = self.segment.tokens.get(index) {
            let at = token.range.end.saturating_add(self.segment.offset);
            self.splices.push(Splice { range: at..at, with });
        }
    }

    /// Tokens `first..=last` as they stand in the text.
    pub fn source(&self, (first, last): (usize, usize)) -> String {
        let range = |index: usize| self.segment.tokens.get(index).map(|token| token.range.clone());
        let source = range(first).zip(range(last)).and_then(|(f, l)| self.segment.text.get(f.start..l.end));
        source.unwrap_or_default().to_owned()
    }
}
