//! The path of a route: literal segments, `{parameters}`, and `**` for any number of segments at the end.

use std::collections::HashSet;
use std::str::FromStr;

use super::path::Path;

/// A route's path, read.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    segments: Vec<TemplateSegment>,
    /// Whether it ends in `**`.
    is_open: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum TemplateSegment {
    /// Compared letter by letter.
    Literal(String),
    /// Any one segment, under this name.
    Parameter(String),
}

impl Template {
    /// Whether a path fits.
    pub fn fits(&self, path: &Path<'_>) -> bool {
        let (own, of_path) = (self.segments.len(), path.len());
        let length_fits = if self.is_open { of_path >= own } else { of_path == own };
        length_fits
            && self.segments.iter().zip(path.texts()).all(|(segment, text)| match segment {
                TemplateSegment::Literal(literal) => literal == text,
                TemplateSegment::Parameter(_) => true,
            })
    }

    /// Whether it is `/**`, which every path fits.
    pub fn is_everything(&self) -> bool {
        self.is_open && self.segments.is_empty()
    }

    /// At which index the parameter of this name is.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        let is_it =
            |segment: &TemplateSegment| matches!(segment, TemplateSegment::Parameter(own) if own == name);
        self.segments.iter().position(is_it)
    }
}

impl FromStr for Template {
    type Err = String;

    /// Reads a route's path; the error is a reason and a remedy.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err("it does not begin with /; write the whole path".to_owned());
        };
        let (rest, is_open) = match rest.strip_suffix("**") {
            Some("") => ("", true),
            Some(before) if before.ends_with('/') => (before.strip_suffix('/').unwrap_or_default(), true),
            _ => (rest, false),
        };
        // `/` has no segments.
        if rest.is_empty() && (is_open || text == "/") && text != "//**" {
            return Ok(Self { segments: Vec::new(), is_open });
        }
        let segments = rest.split('/').map(segment).collect::<Result<Vec<_>, _>>()?;
        let mut seen = HashSet::new();
        for name in segments.iter().filter_map(TemplateSegment::name) {
            if !seen.insert(name) {
                return Err(format!("it has {{{name}}} twice; give each parameter a name of its own"));
            }
        }
        Ok(Self { segments, is_open })
    }
}

impl TemplateSegment {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Parameter(name) => Some(name),
        }
    }
}

fn segment(text: &str) -> Result<TemplateSegment, String> {
    if let Some(name) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return match is_name(name) {
            true => Ok(TemplateSegment::Parameter(name.to_owned())),
            false => Err(format!("{{{name}}} is no parameter; name it by letters, digits and _")),
        };
    }
    let fault = match text {
        "" => "it has an empty segment; leave out the / too many",
        "." | ".." => "it has a dot segment; write the path that it leads to",
        _ if text.contains("**") => {
            "it has ** before its end or in a part of a segment; only the last segment is **"
        }
        _ if text.contains(['{', '}']) => {
            "it has a parameter in a part of a segment; make it a whole segment"
        }
        _ if text.contains(['%', '?', '#', '\\', ';']) || text.contains(char::is_control) => {
            "it has one of % ? # \\ ; or a control character; write the characters themselves, and no query"
        }
        _ => return Ok(TemplateSegment::Literal(text.to_owned())),
    };
    Err(fault.to_owned())
}

fn is_name(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) && name.chars().all(word)
}
