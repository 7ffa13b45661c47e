//! The decoded bytes of a body: what is written of them, and GraphQL's document in them.

use fieldveil_json_stream::Framing;
use std::sync::Arc;

use super::fields::FieldRewriter;
use super::work::Work;
use crate::http::graphql::GraphQlBody;
use crate::http::limits::BodyLimits;
use crate::http::overrides::Posted;
use crate::http::problem::{Problem, Side};
use crate::http::treat::Context;
use crate::routes::Route;

/// What has come of a body, decoded.
pub(super) struct BodyContent {
    /// None where only GraphQL's document is looked at.
    fields: Option<FieldRewriter>,
    /// There until the document is checked, where the route has one.
    graphql: Option<GraphQlBody>,
    /// Some byte has come.
    has_bytes: bool,
    /// What is written and has not left.
    written: Vec<u8>,
}

impl BodyContent {
    /// Of a body that `framing` says how to read, of which nothing has come.
    pub(super) fn new(side: Side, route: &Arc<Route>, framing: Framing, limits: BodyLimits) -> Self {
        let fields = FieldRewriter::new(side, route, framing, limits.of_json(side));
        let is_checked = route.graphql && side == Side::Request;
        let graphql = is_checked.then(|| GraphQlBody::new(route, limits.held));
        Self { fields, graphql, has_bytes: false, written: Vec::new() }
    }

    /// Sets the request whose body it is, of which a member `_method` may make another one.
    pub(super) fn set_posted(&mut self, posted: Option<Posted>) {
        if let Some(fields) = &mut self.fields {
            fields.set_posted(posted);
        }
    }

    /// Takes bytes, and with `is_last` the end.
    pub(super) fn push(
        &mut self,
        context: &Context,
        work: &mut Work,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<(), Problem> {
        self.has_bytes |= !bytes.is_empty();
        if let Some(graphql) = &mut self.graphql {
            graphql.push(bytes)?;
        }
        let Some(fields) = &mut self.fields else {
            self.written.extend_from_slice(bytes);
            return Ok(());
        };
        // What leaves is about as long as what came.
        self.written.reserve(bytes.len());
        // No byte at all is no body, whatever the head said it would be.
        let is_whole = is_last && self.has_bytes;
        fields.push(context, work, bytes, is_whole, &mut self.written)
    }

    /// Whether nothing may leave before the document is whole.
    pub(super) fn awaits_document(&self) -> bool {
        self.graphql.is_some()
    }

    /// Checks the document of a whole body. No byte at all is no document.
    pub(super) fn check_document(&mut self) -> Result<(), Problem> {
        match self.graphql.take().filter(|_| self.has_bytes) {
            Some(graphql) => graphql.check(),
            None => Ok(()),
        }
    }

    /// Takes what is written and may leave.
    pub(super) fn take_written(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }

    /// Bytes of the body that are kept at the moment.
    pub(super) fn held(&self) -> usize {
        let raw = self.graphql.as_ref().map_or(0, GraphQlBody::held);
        let read = self.fields.as_ref().map_or(0, FieldRewriter::held);
        self.written.len().saturating_add(raw).saturating_add(read)
    }

    /// Bytes that are kept of the request whose body it is.
    pub(super) fn held_of_request(&self) -> usize {
        self.fields.as_ref().map_or(0, FieldRewriter::held_of_request)
    }
}
