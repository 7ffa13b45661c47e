//! The body of a GraphQL request until its document can be checked.

use std::sync::Arc;

use super::check;
use crate::http::problem::{Problem, Side};
use crate::routes::{BodyFields, Route};

/// A body as it came. Nothing of it leaves before it is whole.
pub(in crate::http) struct GraphQlBody {
    bytes: Vec<u8>,
    most: usize,
    route: Arc<Route>,
}

impl GraphQlBody {
    /// Of a request of this route, with so many bytes at most.
    pub(in crate::http) fn new(route: &Arc<Route>, most: usize) -> Self {
        Self { bytes: Vec::new(), most, route: Arc::clone(route) }
    }

    /// Takes bytes.
    pub(in crate::http) fn push(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > self.most {
            let what = "the length of a GraphQL request in bytes";
            return Err(Problem::limit(Side::Request, what, self.most, "http.limits.held_body_bytes"));
        }
        Ok(())
    }

    /// Checks the body when all of it has come.
    pub(in crate::http) fn check(&self) -> Result<(), Problem> {
        let named = |body: &Option<BodyFields>| body.as_ref().map_or(Vec::new(), |body| body.places.clone());
        check(&self.bytes, &named(&self.route.request), &named(&self.route.response))
    }

    /// Bytes that are kept.
    pub(in crate::http) fn held(&self) -> usize {
        self.bytes.len()
    }
}
