//! The part of JSONPath that can be followed while a body streams by.

use std::str::FromStr;

use thiserror::Error;

use crate::string::unescape;

/// A path of RFC 9535 whose steps are members by name, elements by index, all children, and members of a name
/// at any depth. Two spellings of one path are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

/// One step of a [`Path`], from a value to some of what is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// `.name` or `['name']`: the members of that name, escapes decoded.
    Name(String),
    /// `[0]`: the element of that index.
    Index(u32),
    /// `[*]`: every member of an object, every element of an array (RFC 9535, section 2.3.2).
    Any,
    /// `..name`: the members of that name of the value itself and of all in it.
    Descendant(String),
}

/// Why a text is no path that can be followed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the JSON path {path}: at character {at}, {reason}; {remedy}")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// Which of its characters begins the step at fault, counted from 1.
    pub at: usize,
    /// What is wrong.
    pub reason: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

/// What a step can fail with: reason and remedy.
type Fault = (&'static str, &'static str);

const NO_PATH: Fault = (
    "this is no JSON path",
    "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
);
const LATE: Fault = (
    "this can not be followed while a body streams by",
    "use .name, ['any name'], [*], [0] and ..name alone",
);
const LONE_SURROGATE: Fault =
    ("this name is no Unicode text", "write both halves of a surrogate pair, or the character itself");

/// As many digits as an index may have: more elements than that no body has within its limits.
const INDEX_DIGITS: usize = 9;

impl Path {
    /// Its steps from the root; at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let fault = |rest: &str, (reason, remedy): Fault| {
            let after = rest.chars().count();
            let at = text.chars().count().saturating_sub(after).saturating_add(1);
            PathError { path: text.into(), at, reason, remedy }
        };
        let mut rest = text.strip_prefix('$').ok_or_else(|| fault(text, NO_PATH))?;
        let mut steps = Vec::new();
        loop {
            let (one, after) = step(rest).map_err(|why| fault(rest, why))?;
            steps.push(one);
            rest = after;
            if rest.is_empty() {
                return Ok(Self { steps });
            }
        }
    }
}

/// The step that a text begins with, and what is after it.
fn step(text: &str) -> Result<(Step, &str), Fault> {
    if let Some(rest) = text.strip_prefix("..") {
        let (name, rest) = name(rest)?;
        return Ok((Step::Descendant(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = name(rest)?;
        return Ok((Step::Name(name), rest));
    }
    let inside = text.strip_prefix('[').ok_or(NO_PATH)?;
    let (step, rest) = match inside.chars().next() {
        Some('*') => (Step::Any, inside.strip_prefix('*').ok_or(LATE)?),
        Some('\'') => quoted(inside)?,
        Some('0'..='9') => index(inside)?,
        Some(']') | None => return Err(NO_PATH),
        Some(_) => return Err(LATE),
    };
    match rest.strip_prefix(']') {
        Some(rest) => Ok((step, rest)),
        None if rest.is_empty() => Err(NO_PATH),
        None => Err(LATE),
    }
}

/// A name without quotes (RFC 9535, section 2.5.1.1).
fn name(text: &str) -> Result<(String, &str), Fault> {
    match text.chars().next() {
        Some('*' | '[') => return Err(LATE),
        Some('A'..='Z' | 'a'..='z' | '_' | '\u{80}'..) => {}
        _ => return Err(NO_PATH),
    }
    let is_of_name = |one: char| one.is_ascii_alphanumeric() || one == '_' || !one.is_ascii();
    let rest = text.trim_start_matches(is_of_name);
    let name = text.strip_suffix(rest).unwrap_or(text);
    Ok((name.into(), rest))
}

/// A name in single quotes (section 2.3.1.1), whose escapes are JSON's but for the quote's.
fn quoted(text: &str) -> Result<(Step, &str), Fault> {
    let mut inside = text.strip_prefix('\'').ok_or(NO_PATH)?;
    let mut json = String::new();
    loop {
        let (run, rest) = inside.split_once(['\'', '\\']).ok_or(NO_PATH)?;
        if run.contains(|one| one < '\u{20}') {
            return Err(LATE);
        }
        // A double quote needs no escape here, and does in JSON.
        json.push_str(&run.replace('"', "\\\""));
        if inside.get(run.len()..).is_some_and(|at| at.starts_with('\'')) {
            inside = rest;
            break;
        }
        let mut escape = rest.chars();
        match escape.next() {
            Some('\'') => json.push('\''),
            Some(one @ ('\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => json.extend(['\\', one]),
            Some('u') if hex(escape.as_str()) => json.push_str("\\u"),
            Some(_) => return Err(LATE),
            None => return Err(NO_PATH),
        }
        inside = escape.as_str();
    }
    let mut name = Vec::new();
    unescape(json.as_bytes(), &mut name).map_err(|_| LONE_SURROGATE)?;
    Ok((Step::Name(String::from_utf8(name).map_err(|_| LONE_SURROGATE)?), inside))
}

fn hex(text: &str) -> bool {
    text.as_bytes().get(..4).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// An index (section 2.3.3.1): no sign, for that counts from an end not known yet, and no zeros before it.
fn index(text: &str) -> Result<(Step, &str), Fault> {
    let rest = text.trim_start_matches(|one: char| one.is_ascii_digit());
    let digits = text.strip_suffix(rest).unwrap_or(text);
    if digits.len() > INDEX_DIGITS || (digits.starts_with('0') && digits != "0") {
        return Err(LATE);
    }
    Ok((Step::Index(digits.parse().map_err(|_| LATE)?), rest))
}
