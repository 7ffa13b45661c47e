//! `bool`: any unambiguous beginning of true, false, yes, no, on, off; 1 and 0.

use super::calendar::trim;
use crate::ValueError;

const KIND: &str = "bool";

pub(crate) fn canonicalize(text: &str) -> Result<String, ValueError> {
    let word = trim(text).to_ascii_lowercase();
    let starts = |whole: &str, at_least: usize| word.len() >= at_least && whole.starts_with(&word);
    if starts("true", 1) || starts("yes", 1) || starts("on", 2) || word == "1" {
        Ok("t".to_owned())
    } else if starts("false", 1) || starts("no", 1) || starts("off", 2) || word == "0" {
        Ok("f".to_owned())
    } else {
        Err(ValueError::Invalid(KIND))
    }
}

pub(crate) fn encode(text: &str) -> Result<Vec<u8>, ValueError> {
    match text {
        "t" => Ok(vec![1]),
        "f" => Ok(vec![0]),
        _ => Err(ValueError::Invalid(KIND)),
    }
}

pub(crate) fn decode(bytes: &[u8]) -> Result<String, ValueError> {
    match bytes {
        [0] => Ok("f".to_owned()),
        [_] => Ok("t".to_owned()),
        _ => Err(ValueError::Invalid(KIND)),
    }
}
