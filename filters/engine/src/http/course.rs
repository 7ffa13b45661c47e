//! What becomes of a body, as its head and its route say.

use fieldveil_json_stream::Framing;
use std::sync::Arc;

use super::body::Rewrite;
use super::encoding::{Coding, Decoder, Encoding};
use super::head::Head;
use super::limits::BodyLimits;
use super::output::Edit;
use super::overrides::Posted;
use super::problem::{Problem, Side};
use super::validators;
use crate::routes::Route;

/// What becomes of a body.
pub(super) enum Course {
    /// It passes as it comes, behind a head with these changes.
    Pass(Vec<Edit>),
    /// It is refused, unless there is none: then the head goes on with these changes.
    Bodiless(Problem, Vec<Edit>),
    /// If there is one, this takes its place.
    Replace(Problem, Vec<Edit>),
    /// Its fields are treated.
    Rewrite(Box<Rewrite>),
}

impl Course {
    /// Of a body of JSON, however it is encoded.
    pub(super) fn of_json(
        side: Side,
        route: &Arc<Route>,
        framing: Framing,
        limits: BodyLimits,
        head: &Head,
        mut edits: Vec<Edit>,
    ) -> Self {
        let decoder = match Encoding::of(head) {
            Encoding::Identity => None,
            // The decoder holds back what it has until much more has come, or the frame's end.
            Encoding::One(Coding::Zstd) if framing != Framing::Document => {
                let reason =
                    "zstd is decoded where the body is one document, not line by line or event by event";
                return Self::Bodiless(Problem::content_encoding(side, reason), edits);
            }
            Encoding::One(coding) => Some(Decoder::new(coding)),
            Encoding::Other => {
                let reason = "its content-encoding is none of gzip, br and zstd, or more than one";
                return Self::Bodiless(Problem::content_encoding(side, reason), edits);
            }
        };
        if decoder.is_some() {
            validators::remove(head, &["content-encoding"], &mut edits);
        }
        let rewrite = Rewrite::new(side, route, framing, limits, head, edits);
        Self::Rewrite(Box::new(rewrite.decoding(decoder)))
    }

    /// The same, where a member `_method` may make another request of this one.
    pub(super) fn posted(mut self, posted: Option<Posted>) -> Self {
        if let Self::Rewrite(rewrite) = &mut self {
            rewrite.set_posted(posted);
        }
        self
    }
}
