//! Arrays: JSON's may be of any shape, a database's are rectangular.

use fieldveil_json_stream::Kind;
use fieldveil_values::{DeclaredType, array_parts, array_text, oid};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Form, Mismatch, NotOfType, kind_of};

/// The server's `MAXDIM`.
const MAX_DIMENSIONS: usize = 6;
/// Elements that an array may have, as everywhere.
const MAX_ELEMENTS: usize = 65_536;

/// An array while it is read.
struct Shape {
    form: Form,
    /// Length of each dimension, outermost first.
    lengths: Vec<usize>,
    /// How many levels lie above an element, once one was seen.
    depth: Option<usize>,
    elements: Vec<Option<Zeroizing<Vec<u8>>>>,
}

pub(super) fn to_text(form: Form, json: &[u8]) -> Result<Zeroizing<Vec<u8>>, Mismatch> {
    let mut shape = Shape { form, lengths: Vec::new(), depth: None, elements: Vec::new() };
    let json = std::str::from_utf8(json).map_err(|_| Mismatch::NotUnicode)?;
    shape.read(json, 0)?;
    let lengths = if shape.elements.is_empty() { Vec::new() } else { shape.lengths };
    let elements = shape.elements.iter_mut().map(|e| e.as_mut().map(|e| std::mem::take(&mut **e))).collect();
    array_text(&lengths, elements).map(Zeroizing::new).map_err(|_| Mismatch::Ragged)
}

impl Shape {
    /// Reads an array that lies below so many others.
    fn read(&mut self, json: &str, level: usize) -> Result<(), Mismatch> {
        if level >= MAX_DIMENSIONS {
            return Err(Mismatch::TooManyElements);
        }
        let items: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| Mismatch::Ragged)?;
        // The server reads `{{}}` as `{}`: an empty array within would not come back.
        if items.is_empty() && level > 0 {
            return Err(Mismatch::Ragged);
        }
        match self.lengths.get(level) {
            Some(length) if *length != items.len() => return Err(Mismatch::Ragged),
            Some(_) => {}
            None => self.lengths.push(items.len()),
        }
        let below = level.saturating_add(1);
        for item in items {
            let kind = kind_of(item);
            let is_nested = kind == Kind::Array && self.form != Form::Any;
            if self.depth.is_some_and(|depth| (below == depth) == is_nested) {
                return Err(Mismatch::Ragged);
            }
            if is_nested {
                self.read(item.get(), below)?;
            } else {
                self.depth = Some(below);
                self.element(kind, item)?;
            }
        }
        Ok(())
    }

    fn element(&mut self, kind: Kind, item: &RawValue) -> Result<(), Mismatch> {
        if self.elements.len() >= MAX_ELEMENTS {
            return Err(Mismatch::TooManyElements);
        }
        self.elements.push(match kind {
            Kind::Null => None,
            _ => Some(Zeroizing::new(self.form.to_text(kind, item.get().as_bytes())?.to_vec())),
        });
        Ok(())
    }
}

pub(super) fn write(element: &DeclaredType, text: &[u8], out: &mut Vec<u8>) -> Result<(), NotOfType> {
    let (lengths, elements) = array_parts(text).map_err(|_| NotOfType)?;
    if elements.is_empty() {
        out.extend_from_slice(b"[]");
        return Ok(());
    }
    let form = Form::of(element);
    let is_padded = element.oid() == oid::BPCHAR && element.modifier() >= 0;
    // So many elements stand within one pair of brackets of each dimension, the innermost first.
    let spans: Vec<usize> = lengths
        .iter()
        .rev()
        .scan(1_usize, |span, length| {
            *span = span.saturating_mul(*length);
            Some(*span)
        })
        .collect();
    let brackets_at = |index: usize| spans.iter().filter(|span| index.checked_rem(**span) == Some(0)).count();
    for (index, element) in elements.into_iter().map(|element| element.map(Zeroizing::new)).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend(std::iter::repeat_n(b'[', brackets_at(index)));
        match element {
            None => out.extend_from_slice(b"null"),
            Some(text) if is_padded => form.write(unpadded(&text), out)?,
            Some(text) => form.write(&text, out)?,
        }
        out.extend(std::iter::repeat_n(b']', brackets_at(index.saturating_add(1))));
    }
    Ok(())
}

/// Without the spaces that fill a `char(n)` up.
fn unpadded(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}
