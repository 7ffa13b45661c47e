//! What analysis said of one text, for all others of its shape.

use std::ops::Range;

use zeroize::Zeroizing;

use super::{
    PlainCheck, Shape, first_same,
    value::{Notation, PlainValue},
};
use crate::{
    analysis::{Analysis, Replacement, Splice},
    catalog::Catalog,
};

/// The analysis of all texts of one shape. It holds no plain value.
pub struct Template {
    analysis: Analysis,
    /// What stands before and behind the values, one piece behind the other.
    between: Box<str>,
    places: Vec<TemplatePlace>,
    /// Which splice seals which of the values.
    sealed: Vec<(usize, usize)>,
}

/// The place of a plain value.
struct TemplatePlace {
    /// Where the value stood in the text that the template was made from.
    range: Range<usize>,
    /// What stands before it, behind the value before.
    before: Range<usize>,
    notation: Notation,
    /// The first value that is the same.
    same: usize,
    /// Where it is cast, what analysis may ask of it.
    asked: Option<u32>,
}

impl Template {
    /// Makes a template of what analysis said of a text of this shape. Returns None where it may not be the same for others.
    pub(super) fn of(text: &str, shape: &Shape, analysis: &Analysis) -> Option<Self> {
        let mut sealed = Vec::new();
        let mut kept = analysis.clone();
        for (index, splice) in kept.splices.iter_mut().enumerate() {
            let is_beside = |value: &&PlainValue| {
                splice.range.end <= value.range.start || value.range.end <= splice.range.start
            };
            let mut within = shape.values.iter().enumerate().filter(|(_, value)| !is_beside(value));
            match (within.next(), within.next(), &mut splice.with) {
                (Some((on, written)), None, Replacement::Seal { value, .. }) => {
                    let is_around =
                        splice.range.start <= written.range.start && written.range.end <= splice.range.end;
                    if !is_around || !written.says(text, value) {
                        return None;
                    }
                    *value = Zeroizing::default();
                    sealed.push((index, on));
                }
                // A value that is not plain: it is not to be kept.
                (None, _, Replacement::Seal { .. }) => return None,
                (None, ..) => {}
                (Some(_), ..) => return None,
            }
        }
        let mut between = String::with_capacity(shape.key.len());
        let mut places = Vec::with_capacity(shape.values.len());
        let mut from = 0;
        for (value, asked) in shape.values.iter().zip(&shape.asked) {
            let start = between.len();
            between.push_str(text.get(from..value.range.start)?);
            places.push(TemplatePlace {
                range: value.range.clone(),
                before: start..between.len(),
                notation: value.notation,
                same: first_same(text, shape.values.get(..places.len())?, value),
                asked: *asked,
            });
            from = value.range.end;
        }
        between.push_str(text.get(from..)?);
        Some(Self { analysis: kept, between: between.into_boxed_str(), places, sealed })
    }

    /// The analysis of a text of this shape.
    pub fn analysis(&self, text: &str, shape: &Shape) -> Option<Analysis> {
        self.moved_to(text, &shape.values)
    }

    /// The analysis of a text, if it is of this shape. Of which shape it is needs not be known.
    pub fn analysis_of(&self, text: &str, catalog: &Catalog) -> Option<Analysis> {
        let check = PlainCheck::of(text, catalog);
        let mut values: Vec<PlainValue> = Vec::with_capacity(self.places.len());
        let mut at = 0_usize;
        for place in &self.places {
            let before = self.between.get(place.before.clone())?;
            text.as_bytes().get(at..)?.starts_with(before.as_bytes()).then_some(())?;
            let value = PlainValue::at(text, at.saturating_add(before.len()), catalog.dialect)?;
            let is_same = value.notation == place.notation
                && check.is_plain(&value)
                && first_same(text, &values, &value) == place.same
                && place.asked.is_none_or(|asked| asked == value.asked_when_cast(text));
            is_same.then_some(())?;
            at = value.range.end;
            values.push(value);
        }
        let behind = self.places.last().map_or(0, |place| place.before.end);
        (text.as_bytes().get(at..)? == self.between.as_bytes().get(behind..)?).then_some(())?;
        self.moved_to(text, &values)
    }

    fn moved_to(&self, text: &str, values: &[PlainValue]) -> Option<Analysis> {
        if values.len() != self.places.len() {
            return None;
        }
        let mut analysis = self.analysis.clone();
        for Splice { range, .. } in &mut analysis.splices {
            *range = self.moved(range.start, values)?..self.moved(range.end, values)?;
        }
        for (splice, value) in &self.sealed {
            let written = values.get(*value)?;
            let splice = analysis.splices.get_mut(*splice)?;
            let Replacement::Seal { value, .. } = &mut splice.with else { return None };
            *value = Zeroizing::new(written.content(text).into_owned());
        }
        Some(analysis)
    }

    /// Where a place beside the values is in a text whose values these are.
    fn moved(&self, place: usize, values: &[PlainValue]) -> Option<usize> {
        let before = self.places.iter().zip(values).rev().find(|(old, _)| old.range.end <= place);
        let (old, new) = before.map_or((0, 0), |(old, new)| (old.range.end, new.range.end));
        place.checked_sub(old)?.checked_add(new)
    }
}
